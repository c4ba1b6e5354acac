import { useEffect, useState } from 'preact/hooks';
import type { Authenticator } from '#client';
import type { Examination, Finding } from '#client/doctor';
import { examine } from '#client/doctor';
import { wordsFor } from '../api.ts';
import { credentials } from '../session.ts';
import { recording } from '../wire/recorder.ts';
import { relayed } from './relay.ts';
import { keptAuth } from './remote-auth.ts';

/** An agent's address, and how to reach it. */
export interface Whereabouts {
  readonly url: string;
  /** This node serves the agent. */
  readonly isOurs: boolean;
  /** The name of the credentials for a remote agent. */
  readonly auth?: string;
}

/** The findings about an agent, while they arrive. */
export interface AgentCheckup {
  readonly findings: readonly Finding[];
  readonly isOver: boolean;
  readonly problem: string;
}

const STEP_MS = 10_000;

/** The fetch options for an agent, with or without credentials. */
export function wayTo({ url, isOurs, auth }: Whereabouts): {
  readonly fetch: Examination['fetch'];
  readonly known?: Examination['fetch'];
} {
  const out = isOurs ? (request: Request) => fetch(request) : relayed;
  const recorded = (request: Request): Promise<Response> => recording(new URL(url).host)(request, out);
  const given: Authenticator | undefined = isOurs ? { present: () => ({ headers: credentials() }) } : keptAuth(auth);
  if (given === undefined || (isOurs && Object.keys(credentials()).length === 0)) return { fetch: recorded };
  const known = async (request: Request): Promise<Response> => {
    const { headers = {}, query = {} } = await given.present(undefined);
    const to = new URL(request.url);
    for (const [name, value] of Object.entries(query)) to.searchParams.set(name, value);
    const sent = Object.keys(query).length === 0 ? request : new Request(to, request);
    for (const [name, value] of Object.entries(headers)) sent.headers.set(name, value);
    return await recorded(sent);
  };
  return { fetch: recorded, known };
}

/** Runs the checks of `parley doctor` and reports each finding. No request changes anything. */
export function useExamination(where: Whereabouts): AgentCheckup & { readonly again: () => void } {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<AgentCheckup>({ findings: [], isOver: false, problem: '' });
  const { url, isOurs, auth } = where;
  useEffect(() => {
    const leaving = new AbortController();
    const run = async (): Promise<void> => {
      const { fetch: bare, known } = wayTo(where);
      const findings: Finding[] = [];
      setState({ findings, isOver: false, problem: '' });
      const examination = {
        fetch: bare,
        signal: leaving.signal,
        timeoutMs: STEP_MS,
        ...(known === undefined ? {} : { known: () => known }),
      };
      try {
        for await (const finding of examine(url, examination)) {
          if (leaving.signal.aborted) return;
          findings.push(finding);
          setState({ findings: [...findings], isOver: false, problem: '' });
        }
        setState({ findings: [...findings], isOver: true, problem: '' });
      } catch (thrown) {
        if (!leaving.signal.aborted) setState({ findings: [...findings], isOver: true, problem: wordsFor(thrown) });
      }
    };
    void run();
    return () => leaving.abort();
  }, [url, isOurs, auth, round]);
  return { ...state, again: () => setRound(round + 1) };
}
