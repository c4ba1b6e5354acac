import { useEffect, useState } from 'preact/hooks';
import type { Examination, Finding } from '#client/doctor';
import { examine } from '#client/doctor';
import { wordsFor } from '../api.ts';
import { credentials } from '../session.ts';
import { recording } from '../wire/recorder.ts';
import { relayed } from './known.ts';

/** An agent's address, and how to reach it. */
export interface Whereabouts {
  readonly url: string;
  /** This node serves the agent. */
  readonly isOurs: boolean;
  /** The token for a remote agent. */
  readonly bearer?: string;
}

/** The findings about an agent, while they arrive. */
export interface AgentCheckup {
  readonly findings: readonly Finding[];
  readonly isOver: boolean;
  readonly problem: string;
}

const STEP_MS = 10_000;

/** The fetch options for an agent, with or without credentials. */
export function wayTo({ url, isOurs, bearer = '' }: Whereabouts): {
  readonly fetch: Examination['fetch'];
  readonly known?: Examination['fetch'];
} {
  const out = isOurs ? (request: Request) => fetch(request) : relayed;
  const recorded = (request: Request): Promise<Response> => recording(new URL(url).host)(request, out);
  const headers = isOurs ? credentials() : bearer === '' ? {} : { Authorization: `Bearer ${bearer}` };
  if (Object.keys(headers).length === 0) return { fetch: recorded };
  const known = (request: Request): Promise<Response> => {
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
    return recorded(request);
  };
  return { fetch: recorded, known };
}

/** Runs the checks of `parley doctor` and reports each finding. No request changes anything. */
export function useExamination(where: Whereabouts): AgentCheckup & { readonly again: () => void } {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<AgentCheckup>({ findings: [], isOver: false, problem: '' });
  const { url, isOurs, bearer } = where;
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
  }, [url, isOurs, bearer, round]);
  return { ...state, again: () => setRound(round + 1) };
}
