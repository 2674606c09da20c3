import { sidPattern } from "../../kit/sid";
import * as z from "zod";
import type { Route } from "../http/route";
import { PAGE_PARAMETERS } from "./lists";
import { BODY_SCHEMAS } from "./routes";

const BODIES = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(BODY_SCHEMAS)) BODIES.add(schema, { id });

/** Creates the OpenAPI 3.1 document of a router. @experimental */
export function createOpenApi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(":sid", "{sid}");
    paths[path] = { ...paths[path], [route.method]: describeRoute(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Keys and Webhooks of the push-verification service", version: "1" },
    // Relative to the address of the document.
    servers: [{ url: "." }],
    paths,
    components: { schemas: describeSchemas() },
  };
}

function describeRoute({ method, path, summary, status = 200, input, output }: Route): object {
  return {
    operationId: method + path.replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary,
    parameters: listParameters(method, path),
    ...(input !== undefined && { requestBody: { required: true, content: refer(input) } }),
    responses: {
      [status]: { description: summary, ...(output && { content: refer(output) }) },
      default: { description: "Error", content: refer(BODY_SCHEMAS.Error) },
    },
  };
}

function listParameters(method: string, path: string): object[] {
  if (path.endsWith("/:sid")) {
    const prefix = path.startsWith("/keys") ? "SK" : "YW";
    const schema = { type: "string", pattern: sidPattern(prefix).source };
    const force = { name: "force", in: "query", schema: { type: "boolean", default: false } };
    const sid = { name: "sid", in: "path", required: true, schema };
    return method === "delete" && prefix === "SK" ? [sid, force] : [sid];
  }
  if (method !== "get") return [];
  return Object.entries(PAGE_PARAMETERS).map(([name, schema]) => ({
    name,
    in: "query",
    schema: withoutDialect(z.toJSONSchema(schema)),
  }));
}

function refer(schema: z.ZodType): object {
  return { "application/json": { schema: { $ref: uriOf(BODIES.get(schema)?.id ?? "") } } };
}

function describeSchemas(): object {
  const { schemas } = z.toJSONSchema(BODIES, { uri: uriOf });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => [id, withoutDialect(schema)]),
  );
}

function uriOf(name: string): string {
  return `#/components/schemas/${name}`;
}

/** A schema within an OpenAPI document must not have `$schema` and `$id`. */
function withoutDialect(schema: z.core.JSONSchema.BaseSchema): object {
  const { $schema: _, $id: __, ...described } = schema;
  return described;
}
