/**
 * The error replies of a server that will accept the command soon, or of a cluster where another
 * server does, once the client knows it.
 */
const TRANSIENT =
  /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|ERR max number of clients)\b/;

/**
 * Returns the reply of a Redis that rejects a command, such as `WRONGPASS`, until an operator changes
 * something; undefined for an outage. A cluster hides the reply of its last node in the error.
 */
export function findRedisRejection(error: unknown): Error | undefined {
  const { name, message, lastNodeError } = Object(error) as Partial<ClusterError>;
  if (lastNodeError !== undefined) return findRedisRejection(lastNodeError);
  return name === "ReplyError" && !TRANSIENT.test(message ?? "") ? (error as Error) : undefined;
}

interface ClusterError extends Error {
  lastNodeError: unknown;
}
