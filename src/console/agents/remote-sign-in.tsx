import { useId, useState } from 'preact/hooks';
import type { AgentCard } from '#protocol';
import { wordsFor } from '../api.ts';
import { Problem } from '../ui/basic.tsx';
import type { DevicePrompt, SignInEntry, SignInWay } from './remote-auth.ts';
import { authOf, isOAuth, keepAuth, waysInto } from './remote-auth.ts';

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

/** Asks for credentials, in the ways that the card names first. They stay in the memory of the page. */
export function RemoteSignIn({ card, button, onAuth }: RemoteSignInProps) {
  const ways = waysInto(card);
  const [entry, setEntry] = useState<SignInEntry>({ way: ways[0]?.way ?? 'bearer' });
  const [problem, setProblem] = useState('');
  const [isWaiting, setWaiting] = useState(false);
  const [prompt, setPrompt] = useState<DevicePrompt | undefined>(undefined);
  const submit = async (): Promise<void> => {
    setProblem('');
    setWaiting(true);
    try {
      const auth = await authOf(entry, card, setPrompt);
      // An OAuth server is asked now, so that a wrong secret is seen here.
      await auth.present(card);
      onAuth(keepAuth(auth));
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
    setPrompt(undefined);
    setWaiting(false);
  };
  return (
    <fieldset class="sign-in-remote">
      <legend>Sign in{card === undefined ? '' : ` to ${card.name}`}</legend>
      <label>
        With
        <select
          value={entry.way}
          onChange={(event) => {
            const way = ways.find((each) => each.way === event.currentTarget.value)?.way;
            if (way !== undefined) setEntry({ way });
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
      {prompt === undefined ? null : <Prompt prompt={prompt} />}
      <Problem text={problem} />
      <div class="row">
        <button type="button" class="primary" disabled={isWaiting} onClick={() => void submit()}>
          {isWaiting && isOAuth(entry.way) ? 'Waiting for the sign-in …' : `Sign in and ${button.toLowerCase()}`}
        </button>
        <button type="button" disabled={isWaiting} onClick={() => onAuth(undefined)}>
          {button} without
        </button>
      </div>
    </fieldset>
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

/** The page and the code of a device sign-in. Only addresses of the web become links. */
function Prompt({ prompt: { verificationUri, verificationUriComplete, userCode } }: { readonly prompt: DevicePrompt }) {
  const url = verificationUriComplete ?? verificationUri;
  return (
    <p role="status">
      Open{' '}
      {/^https?:\/\//.test(url) ? (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {verificationUri}
        </a>
      ) : (
        <code>{url}</code>
      )}{' '}
      and enter the code <strong>{userCode}</strong>.
    </p>
  );
}
