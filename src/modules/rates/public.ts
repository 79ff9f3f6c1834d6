// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
export {
  applicableTiers,
  bandBounds,
  bandOf,
  elementOfTier,
  gapsBetween,
  gapWarning,
  numberedTiers,
  type Gap,
} from './weight-bands.js';
