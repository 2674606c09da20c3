import type { Finding } from "../../client/webhook";
import type { ServiceWebhooks } from "../console";
import { read, readPublicUrl } from "./api";
import { Loader } from "./store";

/** The webhooks of the service, and their differences to the receiver. */
export const webhooks = new Loader(() => read<ServiceWebhooks>("console/webhooks"));

/** The URL that the webhook of a finding should have: the nearest publicUrl, or else the first. */
export function readNearestUrl(finding: Finding | undefined): string {
  const { mend } = finding ?? {};
  const { webhook_url = readPublicUrl() } = mend?.action === "update" ? mend.change : {};
  return webhook_url;
}
