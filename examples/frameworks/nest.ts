import "reflect-metadata";
import { Inject, Injectable, Module, type OnApplicationShutdown } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { pushWebhooks } from "express-push-verification";

@Injectable()
class Logins {
  approve(challengeSid: string): void {
    console.log(challengeSid);
  }
}

@Injectable()
class PushReceiver implements OnApplicationShutdown {
  readonly push = pushWebhooks({
    authToken: process.env.PUSH_AUTH_TOKEN,
    publicUrl: process.env.PUSH_PUBLIC_URL,
  });

  constructor(@Inject(Logins) logins: Logins) {
    this.push.on("challenge.approved", (event) => logins.approve(event.challenge_sid));
  }

  onApplicationShutdown(): Promise<void> {
    return this.push.close();
  }
}

@Module({ providers: [Logins, PushReceiver] })
class AppModule {}

async function start(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ["error"] });
  app.use("/webhooks/push", app.get(PushReceiver).push); // before listen()
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000);
}

void start();
