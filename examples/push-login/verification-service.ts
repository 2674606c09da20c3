/** A phone that a user has registered. */
export interface RegisteredPhone {
  factor_sid: string;
  friendly_name: string;
}

/** The question that a login asks a user. */
export interface LoginQuestion {
  message: string;
  /** Shown on the phone, one below the other. */
  fields: { label: string; value: string }[];
  /** Returned with the outcome; the user does not see it. */
  hidden_details: Record<string, string>;
  /** Afterwards the phone can no longer answer. The service reads whole seconds. */
  expiresAtMs: number;
}

/** The two requests of a login to the verification service. */
export interface VerificationService {
  /** Returns the verified phone of a user, or undefined when there is none. */
  findPhone(entityIdentity: string): Promise<RegisteredPhone | undefined>;
  /** Asks the user, and returns the `challenge_sid`. */
  createChallenge(
    entityIdentity: string,
    phone: RegisteredPhone,
    question: LoginQuestion,
  ): Promise<string>;
}

/** Where and how the service is reached. */
export interface ServiceAccess {
  /** Base URL of the verification API, such as `https://verify.example.com`. */
  verifyUrl: string;
  serviceSid: string;
  /** Account SID or Key SID. */
  username: string;
  /** Auth token or Key secret. */
  password: string;
}

/** Creates the requests to the service. The vendor's SDK sends the same ones. */
export function createVerificationService(access: ServiceAccess): VerificationService {
  const { verifyUrl, serviceSid, username, password } = access;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

  async function request(entityIdentity: string, resource: string, body?: URLSearchParams) {
    const entity = encodeURIComponent(entityIdentity);
    const response = await fetch(
      `${verifyUrl}/v2/Services/${serviceSid}/Entities/${entity}/${resource}`,
      {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(10_000),
      },
    );
    // A user without a phone may be unknown to the service.
    if (response.status === 404 && body === undefined) return { factors: [] };
    if (!response.ok) throw new Error(`${resource}: the service responded ${response.status}`);
    return response.json();
  }

  return {
    async findPhone(entityIdentity) {
      const { factors } = (await request(entityIdentity, "Factors")) as {
        factors: { sid: string; friendly_name: string; status: string }[];
      };
      const factor = factors.find(({ status }) => status === "verified");
      return factor && { factor_sid: factor.sid, friendly_name: factor.friendly_name };
    },
    async createChallenge(entityIdentity, { factor_sid }, question) {
      const { message, fields, hidden_details, expiresAtMs } = question;
      const body = new URLSearchParams({ FactorSid: factor_sid, "Details.Message": message });
      const expirationDate = new Date(Math.ceil(expiresAtMs / 1_000) * 1_000);
      body.set("ExpirationDate", expirationDate.toISOString());
      for (const field of fields) body.append("Details.Fields", JSON.stringify(field));
      body.set("HiddenDetails", JSON.stringify(hidden_details));
      const { sid } = (await request(entityIdentity, "Challenges", body)) as { sid: string };
      return sid;
    },
  };
}
