import { wordsFor } from '../api.ts';
import { say } from '../ui/basic.tsx';
import { Choice, Menu } from '../ui/menu.tsx';
import { saveFile } from '../ui/save.ts';

/** Downloads a task or its conversation as one HTML file. */
async function save(id: string, isWhole: boolean): Promise<void> {
  const [{ readToShare }, { sharedHtml, titleOfShared }] = await Promise.all([import('./shared.ts'), import('./html.ts')]);
  const shared = await readToShare(id, isWhole);
  const name = titleOfShared(shared)
    .replaceAll(/[^\p{Letter}\p{Number}]+/gu, '-')
    .slice(0, 60);
  saveFile(`${name}.html`, sharedHtml(shared), 'text/html');
}

/** Downloads the file, and says so. */
export function share(id: string, isWhole: boolean, onProblem: (text: string) => void): void {
  save(id, isWhole).then(
    () => say('The file has all messages and events. Credentials are removed.'),
    (thrown: unknown) => onProblem(wordsFor(thrown)),
  );
}

/** The choice of what to share. */
export function Share({ id, onProblem }: { readonly id: string; readonly onProblem: (text: string) => void }) {
  return (
    <Menu label="Share" name="Share as a file">
      <Choice onChoose={() => share(id, false, onProblem)}>This task, as HTML</Choice>
      <Choice onChoose={() => share(id, true, onProblem)}>The conversation, as HTML</Choice>
    </Menu>
  );
}
