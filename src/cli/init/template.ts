import type { Tools } from './link.ts';
import { cliTemplate } from './templates/cli.ts';
import { functionTemplate } from './templates/function.ts';
import type { Template } from './templates/kind.ts';
import { llmTemplate } from './templates/llm.ts';
import { mcpTemplate } from './templates/mcp.ts';

/** The values of `--template`. The first is the default. */
export const TEMPLATES: Readonly<Record<string, Template>> = {
  function: functionTemplate,
  llm: llmTemplate,
  cli: cliTemplate,
  mcp: mcpTemplate,
};

/** Packages that check the types of a project. */
const DEVELOPMENT = ['@types/node', 'typescript'];

/** The packages that a project of this kind needs beside Parley. */
export function packagesOf({ dependencies = [] }: Template): readonly string[] {
  return [...dependencies, ...DEVELOPMENT];
}

/** Path and content of every file of a new project. */
export function projectFiles(name: string, template: Template, tools: Tools): Readonly<Record<string, string>> {
  return {
    'package.json': manifest(name, template, tools),
    'tsconfig.json': TSCONFIG,
    ...template.files(name),
    'README.md': readme(name, template),
    '.gitignore': 'node_modules/\n',
  };
}

/** `package.json` of the project. */
function manifest(name: string, { dependencies = [] }: Template, { dependency, versionOf }: Tools): string {
  const versions = (names: readonly string[]): Readonly<Record<string, string>> =>
    Object.fromEntries(names.map((each) => [each, versionOf(each)]));
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: { dev: 'parley dev', start: 'parley serve ./agent.ts', test: 'node --test', check: 'tsc' },
    dependencies: { ...versions(dependencies), 'parley-a2a': dependency },
    devDependencies: versions(DEVELOPMENT),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

const TSCONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'es2024',
      lib: ['es2024', 'esnext', 'dom', 'dom.iterable', 'dom.asynciterable'],
      module: 'nodenext',
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      erasableSyntaxOnly: true,
      allowImportingTsExtensions: true,
      noEmit: true,
      skipLibCheck: true,
    },
    include: ['*.ts'],
  },
  null,
  2,
)}\n`;

function readme(name: string, { readme: more, say }: Template): string {
  return `# ${name}

An A2A agent.

- \`npm run dev\` serves it at http://127.0.0.1:41242 while you write it: every change counts at once.
- \`npm start\` serves it.
- \`npm test\` tests it, and \`npm run check\` checks its types.

Talk to it from another terminal:

    npx parley ask localhost:41242 ${say.includes('"') ? `'${say}'` : `"${say}"`}
    npx parley chat localhost:41242
${more === undefined ? '' : `\n${more}\n`}`;
}
