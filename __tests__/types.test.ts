import { expectTypeOf } from "expect-type";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import https from "node:https";
import connect from "connect";
import express, { type RequestHandler } from "express";
import express4 from "express4";
import { pushWebhooks, verifyPushRequest, WebhookError } from "express-push-verification";
import type {
  ChallengeApprovedEvent,
  ChallengeDeniedEvent,
  ChallengeOutcome,
  FactorCreatedEvent,
  HandlerContext,
  Logger,
  PushEvent,
  PushEventType,
  PushWebhooks,
  UnknownPushEvent,
  WebhookErrorCode,
} from "express-push-verification";
import type { WebhookEventType } from "express-push-verification/admin";
import type { Receiver } from "../lib/admin/client/webhook";
import type { AdminRouterOptions } from "../lib/admin/router/options";

const options = { authToken: "token", publicUrl: "https://app.example.com/push" };

describe("types, checked by the compiler", () => {
  it("passes a handler exactly the events of its types", () => {
    const push = pushWebhooks(options);
    push.on("challenge.approved", (event, context) => {
      expectTypeOf(event).toEqualTypeOf<ChallengeApprovedEvent>();
      expectTypeOf(event.challenge_sid).toEqualTypeOf<string>();
      expectTypeOf(context).toEqualTypeOf<HandlerContext>();
      expectTypeOf(event.factor_friendly_name).toEqualTypeOf<string | undefined>();
      expectTypeOf(event.challenge_details?.message).toEqualTypeOf<string | undefined>();
      // @ts-expect-error: misspelt member
      void event.challenge_details?.mesage;
      // @ts-expect-error: read-only
      event.uuid = "x";
      if (event.version === "v2") expectTypeOf(event.factor_friendly_name).toEqualTypeOf<string>();
    });
    push.on(["challenge.approved", "challenge.denied"], (event) => {
      expectTypeOf(event).toEqualTypeOf<ChallengeApprovedEvent | ChallengeDeniedEvent>();
    });
    push.on("factor.created", (event) => {
      expectTypeOf(event).toEqualTypeOf<FactorCreatedEvent>();
      // @ts-expect-error: factor events have no challenge
      void event.challenge_sid;
    });
    push.onAny((event) => {
      expectTypeOf(event).toEqualTypeOf<PushEvent | UnknownPushEvent>();
      // A single comparison narrows the type.
      if (event.version === "v2") expectTypeOf(event.factor_type).toEqualTypeOf<string>();
    });
    expectTypeOf(push.onUnhandled).toEqualTypeOf(push.onAny);
    push.onError((error, event) => {
      expectTypeOf(error.code).toEqualTypeOf<WebhookErrorCode>();
      expectTypeOf(event).toEqualTypeOf<PushEvent | UnknownPushEvent | undefined>();
    });
  });

  it("lets a union be exhausted", () => {
    const readSid = (event: PushEvent): string => {
      switch (event.type) {
        case "factor.created":
        case "factor.verified":
        case "factor.deleted":
          return event.factor_sid;
        case "challenge.approved":
        case "challenge.denied":
          return event.challenge_sid;
        default:
          return event satisfies never;
      }
    };
    expectTypeOf(readSid).parameter(0).toEqualTypeOf<PushEvent>();
    expectTypeOf<PushEvent["type"]>().toEqualTypeOf<PushEventType>();
  });

  it("rejects misspelt types, options and codes", () => {
    const push = pushWebhooks(options);
    // @ts-expect-error: misspelt type
    expect(() => push.on("challenge.aproved", () => {})).toThrow(TypeError);
    // @ts-expect-error: misspelt type in a list
    expect(() => push.on(["challenge.approved", "factor.create"], () => {})).toThrow(TypeError);
    // @ts-expect-error: misspelt option
    expect(() => pushWebhooks({ ...options, publicURL: "x" })).toThrow(TypeError);
    // @ts-expect-error: missing option
    expect(() => pushWebhooks({ authToken: "token" })).toThrow(TypeError);
    // @ts-expect-error: impossible value
    expect(() => pushWebhooks({ ...options, acknowledge: "never" })).toThrow(TypeError);
    // @ts-expect-error: misspelt code
    void new WebhookError("SIGNATURE_WRONG", "");
  });

  it("equals the types that stand in for it elsewhere", () => {
    expectTypeOf<WebhookEventType>().toEqualTypeOf<PushEventType | "*">();
    expectTypeOf<NonNullable<AdminRouterOptions["logger"]>>().toEqualTypeOf<Logger>();
    expectTypeOf<PushWebhooks>().toExtend<Receiver>();
  });

  it("is accepted as a middleware and as a listener", () => {
    expectTypeOf<PushWebhooks>().toExtend<RequestHandler>();
    const push = pushWebhooks(options);
    // The linter checks these, too: it has rules for promises.
    createServer(push).on("request", push);
    createServer((req, res) => push(req, res));
    https.createServer(push);
    createSecureServer({ allowHTTP1: true }, (req, res) => push(req as never, res as never));
    connect().use("/push", push);
    express().use("/push", push).post("/push", push);
    express4().use("/push", push).post("/push", push);
    expectTypeOf<ReturnType<PushWebhooks>>().toBeVoid();
    expectTypeOf(verifyPushRequest).returns.resolves.toEqualTypeOf<PushEvent | UnknownPushEvent>();
    type Wait = PushWebhooks["waitForChallenge"];
    expectTypeOf<Wait>().returns.resolves.toEqualTypeOf<ChallengeOutcome>();
  });
});
