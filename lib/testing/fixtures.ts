import type { EventParameters } from "../form/parameters";
import type { PushEventType } from "../event/event";

const FACTOR = {
  account_sid: "AC3c39f4e8dd93bc08628b7433542b06e2",
  service_sid: "VA42251e058e7cf202ea951d873b7fe627",
  entity_identity: "user-7f3a-22",
  factor_sid: "YFd60126124f552c15e13240814185e494",
  factor_type: "push",
  factor_friendly_name: "Zoë's phone",
  factor_metadata: '{"os":"Android","os_version":"14","model":"Pixel + 8"}',
};

const CHALLENGE = {
  ...FACTOR,
  challenge_sid: "YCb0977f3f759c742acc1f94257f7974b0",
  challenge_details:
    '{"message":"Approve the payment of 250 €?","date":"2024-03-05T10:20:30Z","fields":[{"label":"City","value":"Köln & Bonn"}]}',
  challenge_hidden_details: '{"ip":"203.0.113.77"}',
};

/** Realistic parameters of an event of each type, without its type and its uuid. */
export const FIXTURES: Readonly<Record<PushEventType, Omit<EventParameters, "uuid" | "type">>> = {
  "factor.created": FACTOR,
  "factor.verified": FACTOR,
  "factor.deleted": FACTOR,
  "challenge.approved": { ...CHALLENGE, challenge_metadata: '{"biometrics":"face"}' },
  "challenge.denied": { ...CHALLENGE, challenge_metadata: '{"biometrics":"none"}' },
};
