const MAX_LAG_SEC = 4;

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
  const read = (field: string) => readInfoField(text, field);
  return {
    role: read("role"),
    isClusterNode: read("cluster_enabled") === "1",
    usedBytes: Number(read("used_memory") ?? 0),
    limitBytes: Number(read("maxmemory") ?? 0),
  };
}

/** The section "replication" of INFO of a primary. */
export interface ReplicationInfo {
  /** The identifier of its writes: a replica that is promoted begins another. */
  history: string | undefined;
  /** How many replicas are connected. */
  attached: number;
  /** How many of them have responded within the last 4 s; usually they do each second. */
  live: number;
}

/** Parses the section "replication" of INFO. */
export function parseReplicationInfo(text: string): ReplicationInfo {
  const lagsSec = [...text.matchAll(/^slave\d+:.*,state=online,.*lag=(\d+)/gm)].map(([, lag]) =>
    Number(lag),
  );
  return {
    history: readInfoField(text, "master_replid"),
    attached: lagsSec.length,
    live: lagsSec.filter((lag) => lag <= MAX_LAG_SEC).length,
  };
}

function readInfoField(text: string, field: string): string | undefined {
  return new RegExp(`^${field}:(\\S*)`, "m").exec(text)?.[1];
}
