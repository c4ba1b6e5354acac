import { stripAnsi } from '../process/ansi.ts';
import type { Child } from '../process/child.ts';
import { clip } from './clip.ts';
import type { Driver } from './driver.ts';
import type { RunEvent } from './events.ts';

/** Detects that a run is silent although it waits neither for its own tool nor for its caller. */
export interface Quiet {
  heard(event: RunEvent): void;
  /** The caller has answered. */
  resume(): void;
  stop(): void;
}

/**
 * A coding CLI that can't reach its model retries for minutes without output. `say` is called once,
 * after the first silence of `afterMs`; 0: never. An event costs one read of the clock; the timer is
 * set again only when it fires.
 */
export function startQuiet(afterMs: number, say: () => void): Quiet {
  const tools = new Set<string>();
  let isAsked = false;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const leftMs = afterMs - (performance.now() - since);
    if (isAsked || tools.size > 0) timer = setTimeout(look, afterMs);
    else if (leftMs > 0) timer = setTimeout(look, leftMs);
    else say();
  };
  if (afterMs > 0) timer = setTimeout(look, afterMs);
  return {
    heard: (event) => {
      since = performance.now();
      if (event.kind === 'approval') isAsked = true;
      else if (event.kind === 'tool_use') tools.add(event.id);
      else if (event.kind === 'tool_result') tools.delete(event.id);
    },
    resume: () => {
      since = performance.now();
      isAsked = false;
    },
    stop: () => clearTimeout(timer),
  };
}

/** What the notice about a silent run mentions. */
export interface QuietOptions {
  readonly driver: Driver;
  readonly afterMs: number;
  /** Whether the sandbox allows network access. */
  readonly hasNetwork: boolean;
  readonly children: Iterable<Child>;
}

const ERROR_CHARACTERS = 300;

/** The notice for the caller: what is known, possible reasons, what to check. */
export function quietWords({ driver, afterMs, hasNetwork, children }: QuietOptions): string {
  const { name, model, environment } = driver;
  const head = `No output from ${name} for ${afterMs < 1000 ? `${afterMs} ms` : `${Math.round(afterMs / 1000)} s`}.`;
  const errors = [...children].map((child) => stripAnsi(child.lastErrors()).trim()).filter((text) => text !== '');
  const last =
    errors.length === 0
      ? ''
      : ` It last wrote to standard error: ${clip((errors.at(-1) ?? '').slice(-ERROR_CHARACTERS), ERROR_CHARACTERS)}`;
  if (model !== true) return `${head} It may be at work, or waiting for something that does not come.${last}`;
  if (!hasNetwork) return `${head} It can't reach a model over the network: it is confined without one (--no-network).${last}`;
  const keys = environment.length === 0 ? '' : ` (${environment.slice(0, 4).join(', ')})`;
  return `${head} It may be thinking, or unable to reach its model: check that ${name} answers when you run it by itself where this server runs, its login or key${keys}, and the network or proxy there.${last}`;
}
