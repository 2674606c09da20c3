import { usePush } from "../../../lib/push";

export const runtime = "nodejs";
export const POST = (request: Request): Promise<Response> => usePush().fetch(request);
