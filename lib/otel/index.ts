export { instrumentPushWebhooks } from "./instrument";
