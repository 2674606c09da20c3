/** Compiles against the packed types of the router, in an app with Express. */
import express from "express";
import { pushWebhooks } from "express-push-verification";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import type { AdminClientOptions, Webhook } from "express-push-verification/admin";
import { createEmulator } from "express-push-verification/emulator";

const push = pushWebhooks({ authToken: "token", publicUrl: "https://app.example.com/push" });

export function createApp(options: AdminClientOptions): express.Express {
  const client = createAdminClient(options);
  const authorize = (req: express.Request) => req.get("x-staff") === "yes";
  return express().use("/push", push).use("/admin", adminRouter({ client, authorize }));
}

const emulator = createEmulator({ authToken: "token" });
const webhook: Omit<Webhook, "url"> = emulator.createWebhook({ webhook_url: "https://a.example" });
void webhook;
