import type { RequestRow } from "../console-view";
import { formatAge, plural } from "./format";
import { live } from "./live";
import { linkTo } from "./route";
import { settings } from "./settings";
import { useStore } from "./store";

/** The URL that a request was signed with, as far as it is known. */
export function readSignedUrl({ urlIndex, explanation }: RequestRow): string | undefined {
  if (urlIndex !== undefined) return settings.receiver?.publicUrls[urlIndex];
  return explanation?.isProven === true && explanation.code.startsWith("URL_")
    ? explanation.subject
    : undefined;
}

/** When the last request of a webhook arrived, and how many failed, among the rows of the list. */
export function WebhookTraffic({ url }: { url: string | null }) {
  const { rows } = useStore(live);
  const own = rows.filter((row) => url !== null && readSignedUrl(row) === url);
  const [last] = own;
  const bad = own.filter(({ status }) => status >= 400).length;
  if (last === undefined) return <>none in the list of this process</>;
  return (
    <>
      the last {formatAge(Date.now() - last.atMs)} ago, {bad} of {own.length} rejected or failed (
      {Math.round((100 * bad) / own.length)} %){" "}
      <a href={linkTo("requests", undefined, new URLSearchParams({ url: url ?? "" }))}>
        Show {plural(own.length, "request")}
      </a>
    </>
  );
}
