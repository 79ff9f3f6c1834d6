import { differs, STEPS, type Step } from '../scenario/steps.js';

/** The steps of generated clients: those of the SDKs, but a webhook's type instead of the features that only SDKs have. */
export const GENERATOR_STEPS: Step[] = [
  ...STEPS.slice(0, 10),
  {
    title: 'read a webhook into its type',
    async check(seen, { id }) {
      return (
        differs('type', seen['type'], 'package.created') ??
        differs('tracking_number', seen['tracking_number'], `${id}-1`) ??
        differs('sequence', seen['sequence'], 1)
      );
    },
  },
];
