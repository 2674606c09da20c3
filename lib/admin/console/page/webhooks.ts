import type { ServiceWebhooks } from "../console";
import { read } from "./api";
import { Loader } from "./store";

/** The webhooks of the service, and their differences to the receiver. */
export const webhooks = new Loader(() => read<ServiceWebhooks>("console/webhooks"));
