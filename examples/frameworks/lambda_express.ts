import serverlessExpress from "@codegenie/serverless-express";
import express from "express";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

export const handler = serverlessExpress({ app: express().use("/webhooks/push", push) });
