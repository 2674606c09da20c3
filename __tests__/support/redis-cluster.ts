import { findFreePort } from "./ports";
import { startRedis, type RedisServer } from "./redis";
import { until } from "./waiting";

const SLOTS = 16_384;

/**
 * Starts a cluster of primaries without replicas; takes about 3 s. `stopRedis` ends it.
 *
 * @returns the nodes in the order of their slots.
 */
export async function startRedisCluster(size: number): Promise<RedisServer[]> {
  const nodes: RedisServer[] = [];
  for (let index = 0; index < size; index++) {
    // The default is the port and 10,000, which may be above 65,535.
    const busPort = await findFreePort();
    const node = await startRedis({ "cluster-enabled": "yes", "cluster-port": String(busPort) });
    const [from, to] = [index, index + 1].map((part) => Math.ceil((part * SLOTS) / size));
    await node.redis.cluster("ADDSLOTSRANGE", from ?? 0, (to ?? 0) - 1);
    await nodes[0]?.redis.cluster("MEET", "127.0.0.1", node.port, busPort);
    nodes.push(node);
  }
  // Every node knows the others, and all slots are served.
  const isUp = async ({ redis }: RedisServer) => {
    const info = await redis.cluster("INFO");
    return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${size}`);
  };
  await until(async () => (await Promise.all(nodes.map(isUp))).every(Boolean), 20_000);
  return nodes;
}
