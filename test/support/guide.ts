import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One step of a guide. A reader pastes it; the test does the same. */
export interface GuideStep {
  readonly line: number;
  /** `save`: a file to write. `serve`: a command that runs until it is stopped. `run`: a command. `program`: TypeScript to run. */
  readonly kind: 'save' | 'serve' | 'run' | 'program';
  readonly code: string;
  /** The file to write. */
  readonly file?: string;
  /** What the command prints. `…` stands for any text. */
  readonly output?: string;
  /** The text says that it is for another terminal: earlier servers keep running. */
  readonly isBeside?: boolean;
}

const BLOCK = /^```(\w*)\n([\s\S]*?)^```$/gm;
/** A line such as "Save this as `agent.ts`:" names the file of the block below it. */
const SAVED = /`([\w./-]+)`[^`\n]*:\s*$/;
const SERVES = /^(?:\w+=\S+ )*(?:parley (?:serve|dev|mock|mesh gateway)|mosquitto)\b[^\n|;&]*$/;
/** What a server prints when it is ready. */
const READY = /Stop with Ctrl-C|mosquitto version \S+ running/;

/** The steps of a page. A `text` block directly below a command is its output; other `text` blocks are not run. */
export function stepsOf(page: string): readonly GuideStep[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const steps: GuideStep[] = [];
  let end = 0;
  for (const match of text.matchAll(BLOCK)) {
    const [whole, language = '', code = ''] = match;
    const before = text.slice(end, match.index);
    end = match.index + whole.length;
    const line = text.slice(0, match.index).split('\n').length;
    const file = SAVED.exec(before.trimEnd())?.[1];
    const last = steps.at(-1);
    if (language === 'text') {
      if (last !== undefined && before.trim() === '' && last.kind !== 'save') steps[steps.length - 1] = { ...last, output: code.trimEnd() };
      else if (file !== undefined) steps.push({ line, kind: 'save', code, file });
    } else if (file !== undefined) steps.push({ line, kind: 'save', code, file });
    else if (language === 'ts') steps.push({ line, kind: 'program', code });
    else if (language === 'sh') {
      const isBeside = /\banother terminal\b/i.test(before);
      steps.push({ line, kind: SERVES.test(code.trim()) ? 'serve' : 'run', code: code.trim(), isBeside });
    } else throw new Error(`${page}:${line}: unknown language "${language}"`);
  }
  return steps;
}

/** The ports that a reader uses in place of 41242 and, for a broker, 1883. */
interface GuidePorts {
  readonly node: number;
  readonly broker: number;
}

/** Follows one guide in an empty folder, as a reader does, with ports of its own. */
export class GuideReader {
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-guide-'));
  readonly #ports: GuidePorts;
  #servers: { readonly child: ChildProcess; readonly ended: Promise<unknown> }[] = [];

  constructor(ports: GuidePorts) {
    this.#ports = ports;
  }

  async do({ kind, code, file, output, isBeside }: GuideStep): Promise<void> {
    const text = this.#here(code);
    if (kind === 'save') {
      const path = join(this.#folder, file ?? '');
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    } else if (kind === 'serve') {
      // A reader stops the old server before the next one is started, unless it is for another terminal.
      if (isBeside !== true) await this.stop();
      await this.#serve(text, output);
    } else {
      const run = kind === 'run' ? this.#shell(text) : this.#program(text);
      if (output === undefined) expect(run.status, `${run.stdout}\n${run.stderr}`).toBe(0);
      else expect(`${run.stdout}${run.stderr}`.trimEnd()).toMatch(pattern(this.#here(output)));
    }
  }

  /** Stops the servers as Ctrl-C does, the newest first. */
  async stop(): Promise<void> {
    for (let server = this.#servers.pop(); server !== undefined; server = this.#servers.pop()) {
      server.child.kill('SIGINT');
      await server.ended;
    }
  }

  async #serve(command: string, output: string | undefined): Promise<void> {
    const child = spawn('bash', ['-c', `exec env ${command}`], { cwd: this.#folder, env: this.#env(), stdio: ['ignore', 'pipe', 'pipe'] });
    // The log is on standard error: here it is JSON, on a reader's terminal it is text.
    let [said, out] = ['', ''];
    child.stdout.on('data', (bytes: Buffer) => {
      said += bytes.toString();
      out += bytes.toString();
    });
    child.stderr.on('data', (bytes: Buffer) => {
      said += bytes.toString();
    });
    this.#servers.push({ child, ended: new Promise((resolve) => child.once('close', resolve)) });
    await eventually(() => READY.test(said) || child.exitCode !== null);
    expect(child.exitCode, said).toBeNull();
    if (output !== undefined) expect(out.trimEnd()).toMatch(pattern(this.#here(output)));
  }

  #shell(script: string) {
    return spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: this.#folder,
      env: this.#env(),
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      timeout: 110_000,
    });
  }

  /** In the folder of the sources, because the guide's imports are packages. */
  #program(code: string) {
    const folder = mkdtempSync(join(ROOT, '.docs-'));
    const file = join(folder, 'program.ts');
    writeFileSync(file, code);
    try {
      return spawnSync(process.execPath, ['--conditions=our-src', file], { cwd: ROOT, encoding: 'utf8', timeout: 110_000 });
    } finally {
      spawnSync('rm', ['-r', folder]);
    }
  }

  #here(text: string): string {
    const { node, broker } = this.#ports;
    return text.replaceAll('41242', String(node)).replaceAll(':1883', `:${broker}`).replaceAll('-p 1883', `-p ${broker}`);
  }

  #env(): NodeJS.ProcessEnv {
    const { NODE_OPTIONS: _, VITEST: __, ...env } = process.env;
    const PATH = [join(ROOT, 'bin'), join(ROOT, 'node_modules/.bin'), process.env['PATH'], '/usr/sbin'].join(delimiter);
    const home = { XDG_CONFIG_HOME: join(this.#folder, '.config'), XDG_DATA_HOME: join(this.#folder, '.data') };
    return { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/parley'), ...env, ...home, PATH, PORT: String(this.#ports.node) };
  }
}

/** `…` stands for any text. */
function pattern(output: string): RegExp {
  const parts = output.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[\\s\\S]*?')}$`);
}
