import { Es256Key } from "../../kit/es256-key";
import type { Pair } from "../../kit/pairs";
import * as z from "zod";
import { sidSchema } from "../client/resource-schemas";
import type { ServiceAccess } from "../client/service-access";
import type { ServiceResponse } from "../client/options";

const factorSchema = z.looseObject({ sid: sidSchema("YF") });
const challengeSchema = z.looseObject({
  sid: sidSchema("YC"),
  date_created: z.string().nullable().default(null),
});

/**
 * What a device signs of a challenge, beside its decision, when no header names it. The
 * specification does not show it; the public mobile SDKs of the vendor do (docs/emulator.md).
 */
const SIGNED_FIELDS =
  "sid,entity_sid,identity,factor_sid,date_created,expiration_date,details,hidden_details";
const FIELDS_HEADER = /-verify-signature-fields$/i;

/** A phone without push notifications, whose user approves what the service asks. */
export class VirtualPhone {
  readonly #key = new Es256Key();
  readonly #service: ServiceAccess;
  readonly #entityUrl: string;
  #mayExist = false;

  constructor(
    service: ServiceAccess,
    readonly identity: string,
  ) {
    this.#service = service;
    this.#entityUrl = `${service.serviceUrl}/Entities/${encodeURIComponent(identity)}`;
  }

  /** Creates the factor of the phone, and its entity; verifies it, and returns its SID. */
  async register(): Promise<string> {
    this.#mayExist = true;
    const url = `${this.#entityUrl}/Factors`;
    const form: Pair[] = [
      ["FriendlyName", "Rehearsal of a login"],
      ["FactorType", "push"],
      ["Binding.Alg", "ES256"],
      ["Binding.PublicKey", this.#key.publicKey],
      ["Config.AppId", "express-push-verification"],
      ["Config.NotificationPlatform", "none"],
    ];
    const { sid } = await this.#service.send({ method: "POST", url, form }, factorSchema);
    const payload: Pair[] = [["AuthPayload", this.#key.signText(sid)]];
    await this.#service.send({ method: "POST", url: `${url}/${sid}`, form: payload }, factorSchema);
    return sid;
  }

  /** Creates a challenge for a factor. */
  async ask(factorSid: string): Promise<{ sid: string; date_created: string | null }> {
    const form: Pair[] = [
      ["FactorSid", factorSid],
      ["Details.Message", "Rehearsal of a login"],
    ];
    return this.#service.send(
      { method: "POST", url: `${this.#entityUrl}/Challenges`, form },
      challengeSchema,
    );
  }

  /** Approves a challenge, as its user does on a phone. */
  async approve(sid: string): Promise<void> {
    const url = `${this.#entityUrl}/Challenges/${sid}`;
    let fields = SIGNED_FIELDS;
    const onHeaders = (headers: ServiceResponse["headers"]) => {
      for (const [name, value] of readHeaders(headers)) {
        if (FIELDS_HEADER.test(name)) fields = value;
      }
    };
    const shown = await this.#service.send({ method: "GET", url, onHeaders }, challengeSchema);
    const names = fields.split(",").map((name) => name.trim());
    const members = Object.fromEntries(names.map((name) => [name, shown[name] ?? null]));
    const form: Pair[] = [["AuthPayload", this.#key.signToken({ ...members, status: "approved" })]];
    await this.#service.send({ method: "POST", url, form }, challengeSchema);
  }

  /** Deletes the entity with its factor and challenge, if it may exist. */
  async remove(): Promise<boolean> {
    if (!this.#mayExist) return false;
    await this.#service.send({ method: "DELETE", url: this.#entityUrl }, z.unknown());
    return true;
  }
}

/** An option `fetch` may not list the headers. */
function readHeaders(headers: ServiceResponse["headers"]): Iterable<[string, string]> {
  return Symbol.iterator in headers ? (headers as Iterable<[string, string]>) : [];
}
