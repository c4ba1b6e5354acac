import type { HttpRequest, HttpResponse } from '#bindings';
import { withoutEndSlashes } from '#protocol';
import type { ServedAgent } from '../agents/served-agent.ts';
import { text } from './responses.ts';

const LINKS = '</.well-known/ai-catalog.json>; rel="ai-catalog", </.well-known/ard.json>; rel="ard"';

/** What the welcome page shows. */
export interface WelcomeOptions {
  readonly agents: readonly ServedAgent[];
  /** The URL of this agent or of the node. */
  readonly base: string;
  /** The URL of the node. */
  readonly root: string;
  readonly hasConsole: boolean;
}

/**
 * The response to `GET /`: browsers are redirected to the console if there is one; others get a short
 * text about the node.
 */
export function welcome(request: HttpRequest, { agents, base, root, hasConsole }: WelcomeOptions): HttpResponse {
  const isBrowser = (request.header('accept') ?? '').includes('text/html');
  if (isBrowser && hasConsole) return { status: 302, headers: { Location: `${pathOf(root)}/console/`, Vary: 'Accept' }, body: null };
  const answer = text(wordsFor(agents, base), 'text/plain; charset=utf-8');
  return { ...answer, headers: { ...answer.headers, Link: LINKS, Vary: 'Accept' } };
}

/** The prefix of the node behind a proxy. Empty if there is none. */
export function pathOf(url: string): string {
  return withoutEndSlashes(URL.parse(url)?.pathname ?? '');
}

/** The text for `curl`: the agents, and what to try. */
function wordsFor(agents: readonly ServedAgent[], base: string): string {
  const width = Math.max(...agents.map(({ name }) => name.length));
  return [
    'This is a Parley node: A2A (Agent2Agent), every version and every dialect.',
    '',
    ...agents.map(({ name, card }) => `  ${name.padEnd(width)}  ${oneLine(card.description)}`),
    '',
    `  ${base}/.well-known/agent-card.json   what it can do`,
    `  ${base}/a2a                           JSON-RPC`,
    `  ${base}/message:send                  HTTP+JSON`,
    '',
    'Say something:',
    '',
    `  curl ${base}/message:send -H 'Content-Type: application/json' \\`,
    `    -d '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"hello"}]}}'`,
    '',
  ].join('\n');
}

function oneLine(description: string): string {
  return description.replaceAll(/\s+/g, ' ').slice(0, 100);
}
