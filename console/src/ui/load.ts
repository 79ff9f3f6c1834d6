import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../session/session.js';

export type Loaded<Data> = {
  data: Data | undefined;
  error: string | undefined;
  isLoading: boolean;
  reload: () => void;
};

/** Loads data when the page opens and when `inputs` change. Old data stay on the screen until new data arrive. */
export function useLoad<Data>(load: (signal: AbortSignal) => Promise<Data>, inputs: unknown[]): Loaded<Data> {
  const [state, setState] = useState<Omit<Loaded<Data>, 'reload'>>({
    data: undefined,
    error: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const aborter = new AbortController();
    setState((last) => ({ ...last, isLoading: true }));
    latest.current(aborter.signal).then(
      (data) => {
        if (!aborter.signal.aborted) setState({ data, error: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (!aborter.signal.aborted)
          setState((last) => ({ ...last, error: messageOf(error), isLoading: false }));
      },
    );
    return () => aborter.abort();
  }, [...inputs, round]);
  return { ...state, reload: () => setRound((count) => count + 1) };
}

export type Action<Arguments extends unknown[]> = {
  run: (...values: Arguments) => void;
  isBusy: boolean;
  error: string | undefined;
  clear: () => void;
};

/** Runs one change at a time, and keeps its failure for the screen. */
export function useAction<Arguments extends unknown[]>(
  change: (...values: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [state, setState] = useState<{ isBusy: boolean; error: string | undefined }>({
    isBusy: false,
    error: undefined,
  });
  const isBusy = useRef(false);
  return {
    ...state,
    clear: () => setState({ isBusy: isBusy.current, error: undefined }),
    run: (...values) => {
      if (isBusy.current) return;
      isBusy.current = true;
      setState({ isBusy: true, error: undefined });
      change(...values).then(
        () => finish(undefined),
        (error: unknown) => finish(messageOf(error)),
      );
    },
  };

  function finish(error: string | undefined): void {
    isBusy.current = false;
    setState({ isBusy: false, error });
  }
}
