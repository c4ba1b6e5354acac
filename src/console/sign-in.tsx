import { useState } from 'preact/hooks';
import { refused, signIn, token } from './session.ts';

/** Where the node asks who we are. The token goes into memory, and nowhere else unless its owner says so. */
export function SignIn() {
  const [given, setGiven] = useState('');
  const [isKept, setKept] = useState(false);
  const isForbidden = refused.value === 'forbidden';
  return (
    <form
      class="panel sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        if (given.trim() !== '') signIn(given, isKept);
      }}
    >
      <h1>{isForbidden ? 'This needs more than you may do' : 'This node asks who you are'}</h1>
      <p>
        {isForbidden
          ? 'The token was understood, and it lacks the scope admin. Show another one.'
          : token.value === ''
            ? 'Show the token of this machine, or a key with the scope admin.'
            : 'The token was not accepted. Show another one.'}
      </p>
      <label>
        Token
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
      </label>
      <label class="check">
        <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.currentTarget.checked)} />
        Keep it for this tab, also when I reload
      </label>
      <button type="submit" class="primary">
        Show it
      </button>
      <p class="dim">
        <code>parley serve</code> says where the token of this machine is kept. A key of your own is made by{' '}
        <code>parley keys create console --scope admin</code>. It is sent to this node alone and forgotten with the page.
      </p>
    </form>
  );
}
