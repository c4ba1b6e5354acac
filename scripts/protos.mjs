// Makes src/bindings/grpc/adapters/generated/ from src/bindings/grpc/proto/ with buf and protoc-gen-es. Needs no network.
// `--check` compares instead of writing, and fails if a file differs.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, runTool } from './install.mjs';

const PROTOS = 'src/bindings/grpc/proto';
const GENERATED = join(ROOT, 'src/bindings/grpc/adapters/generated');

const out = mkdtempSync(join(tmpdir(), 'parley-protos-'));
try {
  process.exitCode = generate(out) ? apply(out, process.argv.includes('--check')) : 1;
} finally {
  rmSync(out, { recursive: true });
}

function generate(folder) {
  const template = {
    version: 'v2',
    inputs: [{ directory: PROTOS }],
    plugins: [{ local: join(ROOT, 'node_modules/.bin/protoc-gen-es'), out: folder, opt: ['target=ts', 'import_extension=ts'] }],
  };
  return runTool('buf', ['generate', '--template', JSON.stringify(template)]).status === 0;
}

/** Returns how many files differ if `isCheck`, otherwise writes them. */
function apply(folder, isCheck) {
  const names = readdirSync(folder);
  const problems = readdirSync(GENERATED).filter((name) => !names.includes(name));
  for (const name of names) {
    const text = withoutEnums(readFileSync(join(folder, name), 'utf8'));
    const path = join(GENERATED, name);
    if (!isCheck) writeFileSync(path, text);
    else if (textOf(path) !== text) problems.push(name);
  }
  for (const name of problems)
    console.error(`${name} in ${GENERATED} is not what src/bindings/grpc/proto gives: run node scripts/protos.mjs`);
  return problems.length === 0 ? 0 : 1;
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Node runs our sources by removing their types, and an `enum` is more than a type. So each becomes an object and a union. */
function withoutEnums(text) {
  return text.replace(/^export enum (\w+) \{\n([\s\S]*?)^\}\n/gm, (_, name, body) => {
    const members = body.replace(/^( {2}\w+) = (\d+),$/gm, '$1: $2,');
    return `export const ${name} = {\n${members}} as const;\nexport type ${name} = (typeof ${name})[keyof typeof ${name}];\n`;
  });
}
