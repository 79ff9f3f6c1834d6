import { signal } from '@preact/signals';
import { useId, useLayoutEffect } from 'preact/hooks';
import { addTexts, t } from '../../texts/texts.js';
import { unsavedEn, unsavedEs } from '../../texts/on-use/unsaved.js';
import { Dialog } from '../../ui/parts.js';
import { askBeforeLeaving } from '../../ui/router.js';

addTexts({ en: unsavedEn, es: unsavedEs });

/** The forms of the page with changes that are not saved, and what each of them is about. */
const unsaved = signal<ReadonlyMap<string, string>>(new Map());

/** Opens the address that the person has asked for. */
const wanted = signal<(() => void) | undefined>(undefined);

const askBrowser = (event: BeforeUnloadEvent) => event.preventDefault();

function setUnsaved(forms: ReadonlyMap<string, string>): void {
  unsaved.value = forms;
  if (forms.size > 0) {
    window.addEventListener('beforeunload', askBrowser);
    askBeforeLeaving((leave) => (wanted.value = leave));
  } else {
    window.removeEventListener('beforeunload', askBrowser);
    askBeforeLeaving(undefined);
    wanted.value = undefined;
  }
}

type Props = {
  /** The title of the form. */
  what: string;
  isChanged: boolean;
};

/** Belongs into a long form: while that has changes, another address opens only after a question, which names what is lost. */
export function Unsaved({ what, isChanged }: Props) {
  const id = useId();
  useLayoutEffect(() => {
    if (!isChanged) return undefined;
    setUnsaved(new Map(unsaved.peek()).set(id, what));
    return () => setUnsaved(new Map([...unsaved.peek()].filter(([form]) => form !== id)));
  }, [id, what, isChanged]);
  // The first form asks for all of them.
  const [first] = unsaved.value.keys();
  const leave = wanted.value;
  return leave && first === id ? <Question leave={leave} /> : null;
}

function Question({ leave }: { leave: () => void }) {
  const stay = () => (wanted.value = undefined);
  return (
    <Dialog title={t('unsaved.title')} onClose={stay}>
      <p>{t('unsaved.effect', { what: [...unsaved.value.values()].join(', ') })}</p>
      <div class="actions">
        <button type="button" class="dialog-first" onClick={stay}>
          {t('unsaved.stay')}
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            setUnsaved(new Map());
            leave();
          }}
        >
          {t('unsaved.leave')}
        </button>
      </div>
    </Dialog>
  );
}
