import { useId, useRef, useState } from 'preact/hooks';
import type { AgentCard } from '#protocol';
import { wordsFor } from '../api.ts';
import { Copy, Problem } from '../ui/basic.tsx';
import { REDIRECT_URI } from './redirect.ts';
import type { DevicePrompt, SignInEntry, SignInWay } from './remote-auth.ts';
import { authOf, entryFor, isOAuth, keepAuth, waysInto } from './remote-auth.ts';

interface RemoteSignInProps {
  readonly card: AgentCard | undefined;
  readonly button: string;
  /** Gets the name of the credentials. Undefined: the user wants none. */
  readonly onAuth: (name: string | undefined) => void;
}

type TextMember = Exclude<keyof SignInEntry, 'way'>;

/** What is asked for each way, and which of it is a secret. */
const FIELDS: Readonly<Record<SignInWay, readonly (readonly [TextMember, string])[]>> = {
  bearer: [['secret', 'Token']],
  apiKey: [['secret', 'Key']],
  basic: [
    ['user', 'User'],
    ['password', 'Password'],
  ],
  headers: [['headers', 'Headers, each line as Name: value']],
  authorizationCode: [
    ['clientId', 'Client id'],
    ['clientSecret', 'Client secret, if it has one'],
    ['scopes', 'Scopes'],
  ],
  deviceCode: [
    ['clientId', 'Client id'],
    ['clientSecret', 'Client secret, if it has one'],
    ['scopes', 'Scopes'],
  ],
  clientCredentials: [
    ['clientId', 'Client id'],
    ['clientSecret', 'Client secret'],
    ['scopes', 'Scopes'],
  ],
};
const SECRET: ReadonlySet<TextMember> = new Set(['secret', 'password', 'clientSecret']);

/** What the user does elsewhere while the form waits: enter a code, or sign in at a page. */
type Waiting = { readonly code: DevicePrompt } | { readonly page: URL };

/** Asks for credentials, in the ways that the card names first. They stay in the memory of the page. */
export function RemoteSignIn({ card, button, onAuth }: RemoteSignInProps) {
  const ways = waysInto(card);
  const [entry, setEntry] = useState<SignInEntry>(entryFor(ways[0]?.way ?? 'bearer', card));
  const { problem, waiting, isBusy, submit, stop } = useSignIn(entry, card, onAuth);
  return (
    <fieldset class="sign-in-remote">
      <legend>Sign in{card === undefined ? '' : ` to ${card.name}`}</legend>
      <label>
        With
        <select
          value={entry.way}
          disabled={isBusy}
          onChange={(event) => {
            const way = ways.find((each) => each.way === event.currentTarget.value)?.way;
            if (way !== undefined) setEntry(entryFor(way, card));
          }}
        >
          {ways.map(({ way, label, isNamed }) => (
            <option key={way} value={way}>
              {label}
              {isNamed ? ', as its card says' : ''}
            </option>
          ))}
        </select>
      </label>
      {entry.way === 'authorizationCode' ? <RedirectNote /> : null}
      {FIELDS[entry.way].map(([member, label]) => (
        <Field
          key={`${entry.way} ${member}`}
          member={member}
          label={label}
          value={entry[member] ?? ''}
          onValue={(value) => setEntry({ ...entry, [member]: value })}
        />
      ))}
      <p class="dim">The page keeps this in memory until it is closed.</p>
      {waiting === undefined ? null : 'code' in waiting ? <CodePrompt prompt={waiting.code} /> : <PagePrompt url={waiting.page} />}
      <Problem text={problem} />
      <div class="row">
        <button type="button" class="primary" disabled={isBusy} onClick={() => void submit()}>
          {isBusy && isOAuth(entry.way) ? 'Waiting for the sign-in …' : `Sign in and ${button.toLowerCase()}`}
        </button>
        {isBusy ? (
          <button type="button" onClick={stop}>
            Cancel
          </button>
        ) : (
          <button type="button" onClick={() => onAuth(undefined)}>
            {button} without
          </button>
        )}
      </div>
    </fieldset>
  );
}

/** Signs in with what was entered. */
function useSignIn(entry: SignInEntry, card: AgentCard | undefined, onAuth: RemoteSignInProps['onAuth']) {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [waiting, setWaiting] = useState<Waiting | undefined>(undefined);
  const stopping = useRef(new AbortController());
  const submit = async (): Promise<void> => {
    setProblem('');
    setBusy(true);
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    try {
      const auth = await authOf(entry, card, { onCode: (code) => setWaiting({ code }), onPage: (page) => setWaiting({ page }), signal });
      // An OAuth server is asked now, so that a wrong secret is seen here.
      await auth.present(card);
      if (!signal.aborted) onAuth(keepAuth(auth));
    } catch (thrown) {
      if (!signal.aborted) setProblem(wordsFor(thrown));
    }
    if (signal.aborted) return;
    setWaiting(undefined);
    setBusy(false);
  };
  const stop = (): void => {
    stopping.current.abort();
    setWaiting(undefined);
    setBusy(false);
  };
  return { problem, waiting, isBusy, submit, stop };
}

/** OAuth servers redirect only to addresses that they know. */
function RedirectNote() {
  return (
    <p class="dim">
      Register this redirect address at the server: <code>{REDIRECT_URI}</code> <Copy label="Copy" text={REDIRECT_URI} />
    </p>
  );
}

interface FieldProps {
  readonly member: TextMember;
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function Field({ member, label, value, onValue }: FieldProps) {
  const id = useId();
  return (
    <>
      <label for={id}>{label}</label>
      {member === 'headers' ? (
        <textarea id={id} rows={3} value={value} onInput={(event) => onValue(event.currentTarget.value)} />
      ) : SECRET.has(member) ? (
        <input id={id} type="password" autocomplete="off" value={value} onInput={(event) => onValue(event.currentTarget.value)} />
      ) : (
        <input id={id} type="text" autocomplete="off" value={value} onInput={(event) => onValue(event.currentTarget.value)} />
      )}
    </>
  );
}

/** The page and the code of a device sign-in. */
function CodePrompt({ prompt: { verificationUri, verificationUriComplete, userCode } }: { readonly prompt: DevicePrompt }) {
  return (
    <p role="status">
      Open <WebLink url={verificationUriComplete ?? verificationUri} text={verificationUri} /> and enter the code{' '}
      <strong>{userCode}</strong>.
    </p>
  );
}

/** For browsers that have blocked the window. */
function PagePrompt({ url }: { readonly url: URL }) {
  return (
    <p role="status">
      Sign in at <strong>{url.host}</strong> in the window that has opened. No window? <WebLink url={url.href} text="Open the page" />
    </p>
  );
}

/** Only addresses of the web become links. */
function WebLink({ url, text }: { readonly url: string; readonly text: string }) {
  if (!/^https?:\/\//.test(url)) return <code>{url}</code>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}
