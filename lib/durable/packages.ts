/**
 * Loads a module that needs these packages, each with its lowest version.
 *
 * @throws Error with the line that installs them when one is missing or older.
 */
export function requireWithPackages<Module>(
  load: () => Module,
  owner: string,
  packages: Record<string, string>,
): Module {
  const install = `Run: npm install ${Object.keys(packages).join(" ")}`;
  for (const [name, lowest] of Object.entries(packages)) {
    const installed = readVersion(name);
    if (installed === undefined || !isOlder(installed, lowest)) continue;
    throw new Error(`${owner} needs ${name} ${lowest} or newer, not ${installed}. ${install}`);
  }
  try {
    return load();
  } catch (error) {
    // Node.js names the package in a text only.
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new Error(`${owner} needs packages that are not installed. ${install}`, { cause: error });
  }
}

/** Returns undefined for a package that is missing, or whose version a bundler left out. */
function readVersion(name: string): string | undefined {
  try {
    return (require(`${name}/package.json`) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** Returns whether a version comes before another. */
export function isOlder(version: string, other: string): boolean {
  return version.localeCompare(other, "en", { numeric: true }) < 0;
}
