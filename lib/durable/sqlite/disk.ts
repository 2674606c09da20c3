import { readFileSync } from "node:fs";
import { dirname } from "node:path";

/** A share of Windows, such as `\\server\share`; not a path of this machine, such as `\\?\C:\`. */
const SHARE = /^\\\\(?![.?]\\(?!UNC\\))/i;

/** Disks whose files two machines may open at a time. */
const REFUSED =
  /^(nfs\d?|smb\w*|cifs|9p|ceph|lustre|gpfs|afs|ocfs2|gfs2|beegfs|vboxsf|vmhgfs|prl_fs|fuse\.(sshfs|s3fs|gcsfuse|rclone|ceph\w*|glusterfs|juicefs|vmhgfs-fuse))$/;

/** What other types of disks do not keep. */
const RISKS: readonly (readonly [type: RegExp, risk: string])[] = [
  [/^(tmpfs|ramfs)$/, "a restart of the machine loses all events"],
  [/^(overlay|aufs)$/, "all events are lost when the container is created again. Mount a folder"],
  [
    /^(fuse\b.*|virtiofs|fakeowner|grpcfuse|osxfs)$/,
    "a power cut may lose events, if the program behind the disk confirms writes early",
  ],
];

/**
 * Finds what the disk of a file may lose, on Linux; throws TypeError where it would lose events, and
 * for a share of Windows. The path has no links.
 */
export function findDiskRisk(file: string): string | undefined {
  if (SHARE.test(file)) throw createSharedError(file, "a share");
  const mounts = readMounts();
  if (mounts === undefined) {
    return `the disk of ${file} cannot be checked: /proc/self/mountinfo cannot be read. It must be a local disk, and not the layer of a container.`;
  }
  // A later mount on the same place hides the earlier one.
  const on = (place: string) => mounts.findLast((mount) => mount.place === place);
  if (on(file) !== undefined) {
    throw new TypeError(
      `sqliteQueue: option file must not be a mount itself: SQLite keeps new events in ${file}-wal, which stays in the container and is lost with it. Mount the folder.`,
    );
  }
  let place = file;
  while (on(place) === undefined && place !== dirname(place)) place = dirname(place);
  const type = on(place)?.type ?? "";
  if (REFUSED.test(type)) throw createSharedError(file, type);
  const risk = RISKS.find(([types]) => types.test(type))?.[1];
  return risk && `${file} is on ${type}: ${risk}.`;
}

function createSharedError(file: string, disk: string): TypeError {
  return new TypeError(
    `sqliteQueue: option file must be on a local disk; ${file} is on ${disk}: other machines may use the disk, too, and SQLite would lose events.`,
  );
}

/** Reads where disks are mounted, on Linux; undefined without /proc. */
function readMounts(): { place: string; type: string }[] | undefined {
  let text: string;
  try {
    text = readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return process.platform === "linux" ? undefined : [];
  }
  return text.split("\n").map((line) => {
    const [, , , , place = ""] = line.split(" ");
    const type = / - (\S+)/.exec(line)?.[1] ?? "";
    const unescaped = place.replaceAll(/\\([0-7]{3})/g, (_all, digits: string) =>
      String.fromCodePoint(Number.parseInt(digits, 8)),
    );
    return { place: unescaped, type };
  });
}
