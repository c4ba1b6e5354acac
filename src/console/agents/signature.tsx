import { useEffect, useState } from 'preact/hooks';
import type { CardVerdict, Fetch } from '#protocol';
import { verifyCard, webVerifier } from '#protocol';
import { wordsFor } from '../api.ts';
import type { Whereabouts } from './examined.ts';
import { wayTo } from './examined.ts';

interface KeySet {
  readonly keys: readonly (JsonWebKey & { readonly kid?: string })[];
}

interface State {
  readonly word: string;
  readonly badge: string;
  readonly text: string;
}

const REASONS: Readonly<Record<string, readonly [string, string, string]>> = {
  unsigned: ['unsigned', 'badge', 'The card is not signed. Only its address vouches for it.'],
  mismatch: ['invalid', 'badge badge-bad', 'The card was changed after it was signed, or another key signed it.'],
  'unknown-key': [
    'key unknown',
    'badge badge-warn',
    'The card is signed, but its key is not published at the card’s address. Enter keys that you trust.',
  ],
  unavailable: ['key unknown', 'badge badge-warn', 'The card is signed, but the keys that the signature names can’t be read.'],
  'no-kid': ['invalid', 'badge badge-bad', 'The signature does not name its key.'],
  'algorithm-not-allowed': ['invalid', 'badge badge-bad', 'The signature algorithm is not allowed.'],
  malformed: ['invalid', 'badge badge-bad', 'The signature is malformed.'],
  'not-canonical': ['invalid', 'badge badge-bad', 'The card contains values that can’t be signed.'],
};

function stateOf(verdict: CardVerdict, isGiven: boolean): State {
  if (verdict.ok) {
    const by = isGiven ? 'one of the keys that you gave' : 'a key that the same origin publishes: that says no more than TLS does';
    const open = verdict.uncovered.length === 0 ? '' : ` It says nothing about ${verdict.uncovered.join(', ')}.`;
    return { word: 'valid', badge: 'badge badge-ok', text: `Signed with ${verdict.kid} (${verdict.alg}), ${by}.${open}` };
  }
  const [word, badge, text] = REASONS[verdict.reason] ?? [verdict.reason, 'badge badge-bad', ''];
  return { word, badge, text };
}

/**
 * Checks as `parley card get` does: with the given keys, or with those that the signature names if they
 * are at the card's origin.
 */
async function verdictOf(raw: unknown, where: Whereabouts, given: KeySet | undefined): Promise<CardVerdict> {
  const { origin } = new URL(where.url);
  const { fetch } = wayTo(where);
  const verifier = webVerifier(async ({ kid, jku }) => {
    const set = given ?? (jku === undefined ? { keys: [] } : await keysAt(jku, fetch));
    return set.keys.filter((key) => key.kid === kid);
  });
  const allowsJku = (jku: string): boolean => URL.canParse(jku) && new URL(jku).origin === origin;
  return await verifyCard(raw, verifier, given === undefined ? { allowsJku } : {});
}

async function keysAt(url: string, fetch: Fetch): Promise<KeySet> {
  const response = await fetch(new Request(url));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return keysIn(await response.text());
}

function keysIn(text: string): KeySet {
  const set: unknown = JSON.parse(text);
  if (typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys)) return set as unknown as KeySet;
  throw new Error('This is not a JSON Web Key Set. Expected {"keys":[…]}.');
}

/** Shows whether the card's signature is valid. */
export function Signature({ raw, where }: { readonly raw: unknown; readonly where: Whereabouts }) {
  const [state, setState] = useState<State | undefined>(undefined);
  const [given, setGiven] = useState('');
  const [problem, setProblem] = useState('');
  const check = async (keys: KeySet | undefined): Promise<void> => {
    // Browsers have Web Cryptography only in a secure context.
    if (globalThis.crypto.subtle === undefined) {
      setState({ word: 'not checked', badge: 'badge badge-warn', text: 'Browsers can check signatures only over HTTPS or on localhost.' });
      return;
    }
    setState(stateOf(await verdictOf(raw, where, keys), keys !== undefined));
  };
  useEffect(() => {
    check(undefined).catch((thrown: unknown) => setProblem(wordsFor(thrown)));
  }, [raw]);
  const submit = async (): Promise<void> => {
    try {
      setProblem('');
      await check(keysIn(given));
    } catch (thrown) {
      setProblem(thrown instanceof SyntaxError ? 'This is not JSON.' : wordsFor(thrown));
    }
  };
  return (
    <section class="panel signature" aria-label="Signature">
      <p>
        <strong>Signature</strong> {state === undefined ? null : <span class={state.badge}>{state.word}</span>} {state?.text}
      </p>
      {state === undefined || state.word === 'unsigned' ? null : (
        <details>
          <summary>Check with keys that you trust</summary>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void submit();
            }}
          >
            <label>
              JSON Web Key Set
              <textarea class="mono" rows={5} spellcheck={false} value={given} onInput={(event) => setGiven(event.currentTarget.value)} />
            </label>
            <button type="submit">Check</button>
          </form>
        </details>
      )}
      {problem === '' ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
