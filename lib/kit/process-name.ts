import { hostname } from "node:os";

/** What people call this process, such as `4711 on web-1`. */
export const PROCESS_NAME = `${process.pid} on ${hostname()}`;
