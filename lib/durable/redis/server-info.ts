/** The fields of INFO that the queue uses. */
export interface ServerInfo {
  /** `"master"`, or `"slave"` for a replica; undefined when Redis does not say. */
  role: string | undefined;
  isClusterNode: boolean;
  /** The bytes that Redis uses. */
  usedBytes: number;
  /** The limit of `usedBytes`; 0: there is none. */
  limitBytes: number;
}

/** Parses the reply of INFO. A field that is missing counts as unknown, false or 0. */
export function parseServerInfo(text: string): ServerInfo {
  const read = (field: string) => new RegExp(`^${field}:(\\S*)`, "m").exec(text)?.[1];
  return {
    role: read("role"),
    isClusterNode: read("cluster_enabled") === "1",
    usedBytes: Number(read("used_memory") ?? 0),
    limitBytes: Number(read("maxmemory") ?? 0),
  };
}
