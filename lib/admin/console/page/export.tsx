import type { RequestRow } from "../console-view";
import { Button } from "./action";

/** Buttons that download the rows that are shown. */
export function ExportButtons({ rows }: { rows: readonly RequestRow[] }) {
  const toLines = () => rows.map((row) => JSON.stringify(row)).join("\n");
  return (
    <>
      <Button run={() => download("requests.jsonl", toLines())}>Export JSONL</Button>
      <Button run={() => download("requests.csv", toCsv(rows))}>CSV</Button>
    </>
  );
}

function toCsv(rows: readonly RequestRow[]): string {
  const names = [...new Set(rows.flatMap(Object.keys))] as (keyof RequestRow)[];
  const lines = rows.map((row) => names.map((name) => toCell(row[name])).join(","));
  return [names.join(","), ...lines].join("\r\n");
}

function toCell(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  // A spreadsheet would run it as a formula.
  const safe = text.replace(/^[=+\-@\t\r]/, "'$&");
  return `"${safe.replaceAll('"', '""')}"`;
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
