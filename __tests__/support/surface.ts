import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The declarations of one file by name, and the relative imports that they use. */
interface DeclarationFile {
  declarations: Map<string, string>;
  imports: Map<string, { file: string; name: string }>;
}

const DECLARATION =
  /^(?:export )?(?:declare )?(?:abstract )?(?:function|const|class|interface|type) (\w+)/;
/** Longer texts are prose: a change of them is no change of the surface. */
const LONG_TEXT = /"(?:[^"\\\n]|\\.){40,}"/g;

/**
 * Describes what an entry exports: each exported declaration without comments, then each one that
 * these refer to, so that a renamed member of an alias shows wherever it is declared.
 *
 * @param index the index.d.ts of the entry.
 * @param described the index.d.ts of an entry whose exports are not repeated.
 */
export function describeSurface(index: string, described?: string): string {
  const files = new Map<string, DeclarationFile>();
  const visited = new Set<string>();
  const exported: string[] = [];
  const referenced: string[] = [];

  function visit(file: string, name: string, texts: string[]): void {
    const { declarations, imports } = getFile(file);
    const text = declarations.get(name);
    if (text === undefined) {
      const source = imports.get(name);
      if (source !== undefined) visit(source.file, source.name, texts);
      return;
    }
    if (visited.has(`${file} ${name}`)) return;
    visited.add(`${file} ${name}`);
    texts.push(text);
  }

  function getFile(file: string): DeclarationFile {
    const known = files.get(file) ?? readDeclarations(file);
    files.set(file, known);
    return known;
  }

  const roots = listExports(index);
  for (const { file, name } of roots) visit(file, name, exported);
  for (const { file, name } of described === undefined ? [] : listExports(described)) {
    visited.add(`${file} ${name}`);
  }
  // Declarations that are found meanwhile are visited, too.
  for (const { file, name } of roots) {
    const { declarations, imports } = getFile(file);
    const text = declarations.get(name) ?? "";
    for (const [identifier = ""] of text.matchAll(/\b[A-Za-z]\w*\b/g)) {
      const next = declarations.has(identifier)
        ? { file, name: identifier }
        : imports.get(identifier);
      if (next === undefined || visited.has(`${next.file} ${next.name}`)) continue;
      visit(next.file, next.name, referenced);
      roots.push(next);
    }
  }
  return [...exported, "// Referenced by these:", ...referenced].join("\n");
}

function listExports(index: string): { file: string; name: string }[] {
  const lines = read(index).matchAll(/export (?:type )?(?:\{([^}]*)\}|\*) from "([^"]+)";/g);
  return [...lines].flatMap(([, names, target = ""]) => {
    const file = join(dirname(index), `${target}.d.ts`);
    if (names === undefined) return listDeclared(file).concat(listExports(file));
    return listNames(names).map(({ name }) => ({ file, name }));
  });
}

function listDeclared(file: string): { file: string; name: string }[] {
  return Array.from(readDeclarations(file).declarations)
    .filter(([, text]) => text.startsWith("export "))
    .map(([name]) => ({ file, name }));
}

function readDeclarations(file: string): DeclarationFile {
  const text = read(file);
  const imports: DeclarationFile["imports"] = new Map();
  for (const [, names = "", target = ""] of text.matchAll(
    /^import (?:type )?\{([^}]*)\} from "(\.[^"]+)";/gm,
  )) {
    const from = join(dirname(file), `${target}.d.ts`);
    for (const { name, alias } of listNames(names)) imports.set(alias, { file: from, name });
  }
  const declarations = new Map<string, string>();
  for (const part of text.split(/^(?=(?:export|declare|interface|type|abstract|import) )/m)) {
    const [, name] = DECLARATION.exec(part) ?? [];
    if (name !== undefined) declarations.set(name, part.trim().replaceAll(LONG_TEXT, '"…"'));
  }
  return { declarations, imports };
}

function listNames(names: string): { name: string; alias: string }[] {
  return names.split(",").flatMap((one) => {
    const [name = "", alias = name] = one
      .trim()
      .replace(/^type /, "")
      .split(" as ");
    return name === "" ? [] : [{ name, alias }];
  });
}

function read(file: string): string {
  return readFileSync(file, "utf8").replaceAll(/\/\*\*[^]*?\*\/\s*|^\/\/#.*$/gm, "");
}
