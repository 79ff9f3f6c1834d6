import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { single } from '../../device/single.js';
import { t } from '../../texts/texts.js';
import { useAction } from '../../ui/load.js';
import { Dialog, Problem } from '../../ui/parts.js';

type FormDialogProps = { title: string; onClose: () => void; children: ComponentChildren };

/** A form over the page. */
export const FormDialog = ({ title, onClose, children }: FormDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    {children}
  </Dialog>
);

type ConfirmProps = {
  title: string;
  /** What happens, and whether it can be undone. */
  effect: string;
  /** What the button does, for example `Deactivate 3 customers`. */
  action: string;
  onClose: () => void;
  run: () => Promise<unknown>;
};

/** A question before a change that cannot be undone, or that affects others. It names the effect. */
export function ConfirmDialog({ title, effect, action, onClose, run }: ConfirmProps) {
  const confirm = useAction(async () => {
    await run();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">
        <p>{effect}</p>
        <Problem text={confirm.error} />
        <div class="actions">
          <button
            type="button"
            class="danger"
            disabled={confirm.isBusy}
            onClick={single(() => confirm.run())}
          >
            {action}
          </button>
          <button type="button" class="dialog-first" onClick={onClose}>
            {t('common.cancel')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

type SecretProps = { title: string; secret: string; hint: string; onClose: () => void };

/** Shows a secret once, with a button that copies it. */
export function SecretDialog({ title, secret, hint, onClose }: SecretProps) {
  return (
    <Dialog title={title}>
      <div class="stack">
        <Secret text={secret} />
        <p>{hint}</p>
        <div class="actions">
          <button type="button" class="primary" onClick={onClose}>
            {t('secret.stored')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

export function Secret({ text }: { text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  return (
    <p class="secret">
      <code class="mono break" data-testid="secret">
        {text}
      </code>
      <button
        type="button"
        onClick={() => void navigator.clipboard.writeText(text).then(() => setIsCopied(true))}
      >
        {t(isCopied ? 'secret.copied' : 'secret.copy')}
      </button>
    </p>
  );
}
