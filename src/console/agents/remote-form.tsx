import { useState } from 'preact/hooks';
import { Problem } from '../ui/basic.tsx';

/** A remote agent that the user entered. */
export interface RemoteAddress {
  readonly url: string;
  readonly bearer?: string;
}

interface RemoteFormProps {
  readonly title: string;
  readonly note?: string;
  readonly button: string;
  /** Gets what the user submits. Undefined: it is not an address. */
  readonly onAddress: (address: RemoteAddress | undefined) => void;
}

/** Asks for the address of a remote agent, and for a token. */
export function RemoteForm({ title, note, button, onAddress }: RemoteFormProps) {
  const [url, setUrl] = useState('');
  const [bearer, setBearer] = useState('');
  const [problem, setProblem] = useState('');
  const submit = (): void => {
    const isAddress = URL.canParse(url) && /^https?:/.test(url);
    setProblem(isAddress ? '' : 'Enter an address that begins with http:// or https://, such as https://agent.example');
    if (isAddress) onAddress(bearer === '' ? { url } : { url, bearer });
    else onAddress(undefined);
  };
  return (
    <form
      class="panel elsewhere"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>{title}</h2>
      {note === undefined ? null : <p class="dim">{note}</p>}
      <label>
        Address
        <input type="url" value={url} placeholder="https://agent.example" onInput={(event) => setUrl(event.currentTarget.value)} />
      </label>
      <label>
        Token, if required
        <input type="password" autocomplete="off" value={bearer} onInput={(event) => setBearer(event.currentTarget.value)} />
      </label>
      <Problem text={problem} />
      <button type="submit" class="primary">
        {button}
      </button>
    </form>
  );
}
