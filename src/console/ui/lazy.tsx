import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem } from './basic.tsx';

/** A page that is loaded when it is first opened, to keep the first load small. */
export function lazily(load: () => Promise<FunctionComponent>): FunctionComponent {
  let known: FunctionComponent | undefined;
  return function Lazy() {
    const [page, setPage] = useState<{ readonly view: FunctionComponent } | undefined>(known === undefined ? undefined : { view: known });
    const [problem, setProblem] = useState('');
    useEffect(() => {
      if (known !== undefined) return;
      load().then(
        (view) => {
          known = view;
          setPage({ view });
        },
        () => setProblem('This page could not be loaded. Check that the node is running, then reload.'),
      );
    }, []);
    if (problem !== '') return <Problem text={problem} onAgain={() => location.reload()} />;
    const View = page?.view;
    return View === undefined ? <p class="loading" /> : <View />;
  };
}
