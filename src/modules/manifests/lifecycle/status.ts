import type { ManifestStatus } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';

const NEXT = {
  draft: 'ready',
  ready: 'shipped',
  shipped: 'completed',
  completed: null,
} satisfies Record<ManifestStatus, ManifestStatus | null>;

/** @throws ApiError manifest_invalid_transition unless `to` is the current status or its next step */
export function assertStep(from: ManifestStatus, to: ManifestStatus): void {
  const next = NEXT[from];
  if (to === from || to === next) return;
  throw next
    ? new ApiError('manifest_invalid_transition', { args: { status: from, next } })
    : new ApiError('manifest_invalid_transition', { variant: 'final', args: { status: from } });
}
