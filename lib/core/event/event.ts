import type { PushEventVersion } from "./event-parameters";
import type { Pair } from "../../kit/pairs";

/** The types of event of the specification (section 6.1). */
export const PUSH_EVENT_TYPES = [
  "factor.created",
  "factor.verified",
  "factor.deleted",
  "challenge.approved",
  "challenge.denied",
] as const;

/** The type of an event. */
export type PushEventType = (typeof PUSH_EVENT_TYPES)[number];

/** Why a JSON parameter is absent from an event. */
export interface EventIssue {
  /** The name of the parameter; its text is in `event.params`. */
  readonly param: string;
  /** The problem, without the text. */
  readonly message: string;
}

/** The fields of every event. */
interface ReceivedEvent {
  /** The identifier of the webhook request, equal over its deliveries; 1 to 256 characters. */
  readonly uuid: string;
  /** The account that owns the service. */
  readonly account_sid: string;
  /** Every received parameter in the order of arrival, decoded, unknown names included. */
  readonly params: readonly Pair[];
  /** The JSON parameters that are absent from the event, each with the reason. */
  readonly issues: readonly EventIssue[];
}

/** The fields of every event of a known type (specification, section 6.3). */
interface KnownEvent<Type extends PushEventType> extends ReceivedEvent {
  readonly type: Type;
  /** The verification service. */
  readonly service_sid: string;
  /** The identifier that the app uses for the user. */
  readonly entity_identity: string;
  /** The factor that the event is about; for a challenge event, the factor that responded to it. */
  readonly factor_sid: string;
}

/** The challenge that an event is about. */
interface ChallengeFields {
  readonly challenge_sid: string;
}

/** An event of a factor in v1, which has no `factor_type`, name or metadata. */
export interface V1FactorEvent<Type extends PushEventType> extends KnownEvent<Type> {
  readonly version: "v1";
  readonly factor_type?: undefined;
  readonly factor_friendly_name?: undefined;
  readonly factor_metadata?: undefined;
}

/** An event of a factor in v2 (specification, section 6.2). */
export interface V2FactorEvent<Type extends PushEventType> extends KnownEvent<Type> {
  readonly version: "v2";
  /** `"push"`, the only type of factor so far. */
  readonly factor_type: string;
  readonly factor_friendly_name: string;
  /** Custom metadata of the device, up to 1024 characters of JSON. */
  readonly factor_metadata?: Readonly<Record<string, string>> | undefined;
}

/** An event of a challenge in v1, which has no details or metadata. */
export interface V1ChallengeEvent<Type extends PushEventType>
  extends V1FactorEvent<Type>, ChallengeFields {
  readonly challenge_details?: undefined;
  readonly challenge_hidden_details?: undefined;
  readonly challenge_metadata?: undefined;
}

/** An event of a challenge in v2 (specification, section 6.2). */
export interface V2ChallengeEvent<Type extends PushEventType>
  extends V2FactorEvent<Type>, ChallengeFields {
  /** Context that the service showed to the user. */
  readonly challenge_details?: ChallengeDetails | undefined;
  /** Context that the service did not show to the user. */
  readonly challenge_hidden_details?: Readonly<Record<string, unknown>> | undefined;
  /** Custom metadata of the device, up to 1024 characters of JSON. */
  readonly challenge_metadata?: Readonly<Record<string, string>> | undefined;
}

/** Context of a challenge that the service showed to the user (specification, section 6.2). */
export interface ChallengeDetails {
  readonly message: string;
  /** The text that the app sent, usually ISO 8601. */
  readonly date?: string | null | undefined;
  readonly fields?: readonly ChallengeDetailsField[] | null | undefined;
}

/** One labelled line of {@link ChallengeDetails}. */
export interface ChallengeDetailsField {
  readonly label: string;
  readonly value: string;
}

/** A factor was created; it cannot receive challenges yet. */
export type FactorCreatedEvent = V1FactorEvent<"factor.created"> | V2FactorEvent<"factor.created">;
/** A factor was verified; it can receive challenges from now on. */
export type FactorVerifiedEvent =
  V1FactorEvent<"factor.verified"> | V2FactorEvent<"factor.verified">;
/** A factor was deleted. */
export type FactorDeletedEvent = V1FactorEvent<"factor.deleted"> | V2FactorEvent<"factor.deleted">;
/** The user approved a challenge. */
export type ChallengeApprovedEvent =
  V1ChallengeEvent<"challenge.approved"> | V2ChallengeEvent<"challenge.approved">;
/** The user denied a challenge. */
export type ChallengeDeniedEvent =
  V1ChallengeEvent<"challenge.denied"> | V2ChallengeEvent<"challenge.denied">;
/** The outcome of a challenge: approved or denied. */
export type ChallengeEvent = ChallengeApprovedEvent | ChallengeDeniedEvent;

/**
 * An event: a union discriminated by `type` and by `version`. Read-only by its types, not frozen at
 * run time. All handlers of an event receive the same object.
 */
export type PushEvent =
  FactorCreatedEvent | FactorVerifiedEvent | FactorDeletedEvent | ChallengeEvent;

/** The event of one type, in both versions or in one. */
export type PushEventOf<
  Type extends PushEventType,
  Version extends PushEventVersion = PushEventVersion,
> = Extract<PushEvent, { type: Type; version: Version }>;

/**
 * An event of a type that the service introduced after this version of the package. Only `uuid`,
 * `type` and `account_sid` are certain; every received parameter is in `params`.
 */
export interface UnknownPushEvent extends ReceivedEvent {
  /** A letter, then up to 99 letters, digits, `_`, `.` and `-`. */
  readonly type: string;
  /** Absent: a known event has `"v1"` or `"v2"`. */
  readonly version?: undefined;
  readonly service_sid?: string | undefined;
}

/** An event of a known type, or of another one. */
export type AnyEvent = PushEvent | UnknownPushEvent;

/** Returns whether a type is one of {@link PUSH_EVENT_TYPES}. */
export function isPushEventType(type: string | undefined): type is PushEventType {
  return (PUSH_EVENT_TYPES as readonly (string | undefined)[]).includes(type);
}

/** Returns whether an event is of a known type. */
export function isPushEvent(event: PushEvent | UnknownPushEvent): event is PushEvent {
  return event.version !== undefined;
}

/** Returns whether an event is the outcome of a challenge. */
export function isChallengeEvent(event: PushEvent | UnknownPushEvent): event is ChallengeEvent {
  return event.type === "challenge.approved" || event.type === "challenge.denied";
}

/**
 * The result of a delivery. @experimental
 *
 * - `"new"`: its event is handled or stored.
 * - `"duplicate"`: an earlier delivery of the same webhook request was handled or stored already.
 * - `"conflict"`: a webhook request with the same uuid and other content was handled or stored
 *   already. This delivery is dropped.
 */
export type DeliveryResult = "new" | "duplicate" | "conflict";
