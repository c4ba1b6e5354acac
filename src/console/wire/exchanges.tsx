import { useState } from 'preact/hooks';
import { health } from '../ops/watch.ts';
import { go, path, query } from '../route.ts';
import { Copy, took } from '../ui/basic.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { saveFile } from '../ui/save.ts';
import type { ConsoleExchange } from './exchange.ts';
import { gistOf } from './gist.ts';
import { harOf } from './har.ts';
import { asCli, asCurl, asTypeScript } from './snippets.ts';

/**
 * A list of requests with their responses, and the details of the one in the address, or of the newest.
 */
export function ExchangesView({ all }: { readonly all: readonly ConsoleExchange[] }) {
  const picked = Number(query.value.get('n') ?? 0);
  const shown = all.find(({ n }) => n === picked) ?? all[0];
  if (shown === undefined) return null;
  return (
    <div class="wire-columns">
      <div class="exchange-list">
        <p class="spread">
          <span class="dim">{all.length === 1 ? '1 request' : `${all.length} requests`}</span>
          <button
            type="button"
            class="small"
            title="A HAR file, for the tools of browsers. Credentials are masked."
            onClick={() => save(all)}
          >
            Export
          </button>
        </p>
        <ol class="exchanges panel" aria-label="Requests, newest first">
          {all.map((exchange) => (
            <li key={exchange.n}>
              <button
                type="button"
                aria-pressed={exchange.n === shown.n}
                onClick={() => go(`${path.value}?n=${exchange.n}`, { replace: true })}
              >
                <span class={isBad(exchange) ? 'status bad' : 'status'}>
                  {exchange.status === 0 ? '…' : (exchange.grpcStatus ?? exchange.status)}
                </span>
                <span class="what">{operationIn(exchange)}</span>
                <span class="dim">
                  {exchange.to}
                  {exchange.isStream ? `, ${exchange.frames.length} frames` : ''}
                </span>
              </button>
            </li>
          ))}
        </ol>
      </div>
      <ExchangeView key={shown.n} exchange={shown} />
    </div>
  );
}

function save(all: readonly ConsoleExchange[]): void {
  saveFile(
    `parley-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.har`,
    harOf(all, health.value?.version ?? ''),
    'application/json',
  );
}

function isBad({ status, grpcStatus = 'OK', problem }: ConsoleExchange): boolean {
  return status >= 400 || grpcStatus !== 'OK' || problem !== '';
}

function operationIn({ method, url, body }: ConsoleExchange): string {
  const { pathname } = new URL(url);
  const call = /\/((?:lf\.)?a2a\.v1)\.A2AService\/(\w{1,60})$/.exec(pathname);
  if (call !== null) return `gRPC ${call[1]} ${call[2]}`;
  const rpc = /"method"\s*:\s*"([^"]{1,60})"/.exec(body)?.[1];
  return rpc ?? `${method} ${pathname.replace(/^\/agents\/[^/]+/, '')}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A body as a tree, or as text if it is not JSON. */
function Body({ text }: { readonly text: string }) {
  const value = parsed(text);
  if (text === '') return <p class="dim">No body.</p>;
  return value === undefined ? (
    <pre class="code">{text.slice(0, 20_000)}</pre>
  ) : (
    <div class="tree-box">
      <JsonTree value={value} open={5} />
    </div>
  );
}

/** One request with its response. */
function ExchangeView({ exchange }: { readonly exchange: ConsoleExchange }) {
  const { method, url, headers, body, status, grpcStatus, answer, frames, isStream, endedMs, problem, note } = exchange;
  return (
    <section class="exchange" aria-label="Exchange">
      <div class="spread">
        <h2 class="mono">
          {method} {url}
        </h2>
        <div class="row">
          <Copy label="as curl" text={() => asCurl(exchange)} />
          <Copy label="as CLI" text={() => asCli(exchange)} />
          <Copy label="as TypeScript" text={() => asTypeScript(exchange)} />
        </div>
      </div>
      <h3>Request</h3>
      <Headers of={headers} />
      <Body text={body} />
      <h3>
        Response {status === 0 ? '' : `· ${grpcStatus === undefined ? `HTTP ${status}` : `gRPC ${grpcStatus}`}`}{' '}
        {endedMs === undefined ? '· running' : `· ${took(endedMs)}`}
      </h3>
      {note === '' ? null : <p class="dim">{note}</p>}
      {problem === '' ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <Headers of={exchange.answerHeaders} />
      {/* A copy: a stream adds frames in place, and a component with state is drawn again only for another list. */}
      {isStream ? <Frames frames={[...frames]} /> : <Body text={answer} />}
    </section>
  );
}

function Headers({ of }: { readonly of: ConsoleExchange['headers'] }) {
  return (
    <details class="headers">
      <summary>{of.length} headers</summary>
      <dl>{of.map(([name, value]) => [<dt key={`${name}-n`}>{name}</dt>, <dd key={name}>{value}</dd>])}</dl>
    </details>
  );
}

const FRAMES_STEP = 200;

/** The frames of a stream, with the time of each. */
function Frames({ frames }: { readonly frames: ConsoleExchange['frames'] }) {
  const [shown, setShown] = useState(FRAMES_STEP);
  return (
    <ol class="frames" aria-label="Frames">
      {frames.slice(0, shown).map(({ atMs, text }, at) => {
        const data = text
          .split('\n')
          .filter((line) => line.startsWith('data:'))
          .map((line) => line.slice(5).trimStart())
          .join('\n');
        const value = parsed(data);
        const id = /^id: ?(.*)$/m.exec(text)?.[1];
        return (
          <li key={at}>
            <span class="dim">
              +{Math.round(atMs)} ms{id === undefined ? '' : ` · id ${id}`}
            </span>
            {value === undefined ? <code>{text}</code> : <JsonTree value={value} open={0} name={gistOf(value) || 'data'} />}
          </li>
        );
      })}
      {frames.length > shown ? (
        <li>
          <button type="button" class="small" onClick={() => setShown(shown + FRAMES_STEP)}>
            Show more of {frames.length.toLocaleString('en')} frames
          </button>
        </li>
      ) : null}
    </ol>
  );
}
