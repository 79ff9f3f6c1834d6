import { useState } from 'preact/hooks';
import type { ManifestDetail } from '../../../sdk/typescript/src/index.js';
import { t } from '../texts/texts.js';
import { Reopen } from './reopen.js';
import { StepDialog, type NextStep } from './step-dialog.js';

const STEPS = ['draft', 'ready', 'shipped', 'completed'] as const;

/** The life of a manifest, and its next step. A manifest without packages has none. */
export function Steps({ detail, onDone }: { detail: ManifestDetail; onDone: () => void }) {
  const [isAsking, setIsAsking] = useState(false);
  const current = STEPS.findIndex((step) => step === detail.info.status);
  // The first status is no step, so what follows is one of these.
  const next = STEPS[current + 1] as NextStep | undefined;
  const isEmpty = detail.stats.total_count === 0;
  return (
    <section class="card stack" aria-label={t('manifests.steps')}>
      <ol class="steps">
        {STEPS.map((step, index) => (
          <li
            key={step}
            class={index <= current ? 'step step-done' : 'step'}
            aria-current={index === current ? 'step' : undefined}
          >
            {t(`manifest.${step}`)}
          </li>
        ))}
      </ol>
      {next && (
        <>
          <p class="muted">{t(isEmpty ? 'manifests.emptyStep' : `manifests.${next}Hint`)}</p>
          <div class={`actions step-${next}`}>
            <button
              type="button"
              class={next === 'completed' ? undefined : 'primary'}
              disabled={isEmpty}
              onClick={() => setIsAsking(true)}
            >
              {t(`manifests.to.${next}`)}
            </button>
            {detail.info.status === 'ready' && <Reopen detail={detail} onDone={onDone} />}
          </div>
        </>
      )}
      {next && isAsking && (
        <StepDialog
          detail={detail}
          step={next}
          onClose={() => setIsAsking(false)}
          onDone={() => {
            setIsAsking(false);
            onDone();
          }}
        />
      )}
    </section>
  );
}
