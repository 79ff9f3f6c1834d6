import type { Step } from './run-steps.mjs';

export const STAGES: readonly (readonly Step[])[];
