import { sidPattern } from "../../form/sid";
import * as z from "../../validation/zod";
import { BODY_SCHEMAS, type BodyName } from "./body-schemas";
import { PAGE_PARAMETERS } from "./lists";
import { ROUTES, type Route } from "./routes";

/** Creates the OpenAPI 3.1 document of a router. @experimental */
export function createOpenApi(readOnly: boolean): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of ROUTES.filter(({ action }) => !readOnly || action === undefined)) {
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
      default: { description: "Error", content: refer("Error") },
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

function refer(name: BodyName): object {
  return { "application/json": { schema: { $ref: uriOf(name) } } };
}

function describeSchemas(): object {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(BODY_SCHEMAS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: uriOf });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => [id, withoutDialect(schema)]),
  );
}

function uriOf(name: string): string {
  return `#/components/schemas/${name}`;
}

/** Removes `$schema` and `$id`: a schema within an OpenAPI document must not have them. */
function withoutDialect(schema: object): object {
  const entries = Object.entries(schema);
  return Object.fromEntries(entries.filter(([name]) => name !== "$schema" && name !== "$id"));
}
