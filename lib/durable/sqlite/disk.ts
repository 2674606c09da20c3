import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** A share of Windows, such as `\\server\share`; not a path of this machine, such as `\\?\C:\`. */
const SHARE = /^\\\\(?![.?]\\(?!UNC\\))/i;

/** Disks whose files two machines, or a machine and its guest, may open at a time. */
const REFUSED =
  /^(nfs\d?|smb\w*|cifs|9p|ceph|lustre|gpfs|afs|ocfs2|gfs2|beegfs|vboxsf|vmhgfs|prl_fs|fuse\.(sshfs|s3fs|gcsfuse|rclone|ceph\w*|glusterfs|juicefs|vmhgfs-fuse))$/;

/** What the other disks that people use do not keep, by their type. */
const RISKS: readonly (readonly [type: RegExp, risk: string])[] = [
  [/^(tmpfs|ramfs)$/, "a restart of the machine loses all events"],
  [/^(overlay|aufs)$/, "all events are lost when the container is created again. Mount a folder"],
  [
    /^(fuse\b.*|virtiofs|fakeowner|grpcfuse|osxfs)$/,
    "a power cut may lose events, if the program behind the disk confirms writes early",
  ],
];

/**
 * Finds what the disk of a file may lose, on Linux; throws TypeError where it would lose events,
 * and for a share of Windows.
 */
export function findDiskRisk(file: string): string | undefined {
  let folder: string;
  let mounts: ReturnType<typeof readMounts>;
  try {
    // Native: it sees that the letter of a drive stands for a share.
    folder = SHARE.test(file) ? file : realpathSync.native(dirname(file));
    mounts = readMounts();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    return `the disk of ${file} cannot be checked (${reason}). Other machines must not use it.`;
  }
  if (SHARE.test(folder)) throw createSharedError(file, "a share");
  const path = join(folder, basename(file));
  // A later mount on the same place hides the earlier one.
  const on = (place: string) => mounts.findLast((mount) => mount.place === place);
  if (on(path) !== undefined) {
    throw new TypeError(
      `sqliteQueue: option file must not be a mount itself: SQLite keeps new events in ${file}-wal, which stays in the container and is lost with it. Mount the folder.`,
    );
  }
  let place = path;
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

/** Reads where the disks of this process are mounted; nothing elsewhere than on Linux. */
function readMounts(): { place: string; type: string }[] {
  if (process.platform !== "linux") return [];
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return lines.map((line) => {
    const [, , , , place = ""] = line.split(" ");
    const type = / - (\S+)/.exec(line)?.[1] ?? "";
    const unescaped = place.replaceAll(/\\([0-7]{3})/g, (_all, digits: string) =>
      String.fromCodePoint(Number.parseInt(digits, 8)),
    );
    return { place: unescaped, type };
  });
}
