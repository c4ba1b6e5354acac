import { useState } from 'preact/hooks';
import { A2AClient } from '#client';
import type { AgentCard } from '#protocol';
import { wordsFor } from '../api.ts';
import { Problem } from '../ui/basic.tsx';
import { relayed } from './relay.ts';
import { wantsSignIn } from './remote-auth.ts';
import { RemoteSignIn } from './remote-sign-in.tsx';

/** A remote agent that the user entered. */
export interface RemoteAddress {
  readonly url: string;
  /** The name of the credentials for it. */
  readonly auth?: string;
}

interface RemoteFormProps {
  readonly title: string;
  readonly note?: string;
  readonly button: string;
  /** Gets what the user submits. Undefined: it is not an address. */
  readonly onAddress: (address: RemoteAddress | undefined) => void;
}

/** Asks for the address of a remote agent. If its card, or the user, wants it, then for credentials. */
export function RemoteForm({ title, note, button, onAddress }: RemoteFormProps) {
  const [url, setUrl] = useState('');
  const [problem, setProblem] = useState('');
  const [protectedBy, setProtectedBy] = useState<{ readonly url: string; readonly card: AgentCard | undefined } | undefined>(undefined);
  const [isReading, setReading] = useState(false);
  const submit = async (wantsCredentials: boolean): Promise<void> => {
    const isAddress = URL.canParse(url) && /^https?:/.test(url);
    setProblem(isAddress ? '' : 'Enter an address that begins with http:// or https://, such as https://agent.example');
    if (!isAddress) return onAddress(undefined);
    setReading(true);
    const card = await cardAt(url);
    setReading(false);
    if (wantsCredentials || card === 'refused' || (card !== undefined && wantsSignIn(card)))
      setProtectedBy({ url, card: card === 'refused' ? undefined : card });
    else onAddress({ url });
  };
  return (
    <form
      class="panel elsewhere"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(false);
      }}
    >
      <h2>{title}</h2>
      {note === undefined ? null : <p class="dim">{note}</p>}
      <label>
        Address
        <input
          type="url"
          value={url}
          placeholder="https://agent.example"
          onInput={(event) => {
            setUrl(event.currentTarget.value);
            setProtectedBy(undefined);
          }}
        />
      </label>
      <Problem text={problem} />
      {protectedBy === undefined ? (
        <div class="row">
          <button type="submit" class="primary" disabled={isReading}>
            {isReading ? 'Reading its card …' : button}
          </button>
          <button type="button" disabled={isReading} onClick={() => void submit(true)}>
            Sign in first
          </button>
        </div>
      ) : (
        <RemoteSignIn
          card={protectedBy.card}
          button={button}
          onAuth={(auth) => onAddress(auth === undefined ? { url: protectedBy.url } : { url: protectedBy.url, auth })}
        />
      )}
    </form>
  );
}

/** The card at an address. Undefined: there is none, and the page that follows says why. */
async function cardAt(url: string): Promise<AgentCard | 'refused' | undefined> {
  try {
    return (await A2AClient.connect(url, { fetch: relayed })).card;
  } catch (thrown) {
    return /\b40[13]\b|unauthenticated|credential/i.test(wordsFor(thrown)) ? 'refused' : undefined;
  }
}
