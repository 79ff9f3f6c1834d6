import { ROOT_CONTEXT } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import type { TracingConfig } from '../../config/config.js';

const WINDOW_MS = 1_000;

/** Returns the sampler of the settings. Spans whose parent is our own are always sampled, because only sampled spans have children. */
export function makeSampler({ sampler, samplerRatio, callersPerSecond }: TracingConfig): Sampler {
  const root = makeRootSampler(sampler.replace('parentbased_', ''), samplerRatio);
  const fresh = sampleLikeNew(root);
  const isParentBased = sampler.startsWith('parentbased_');
  return new ParentBasedSampler({
    root,
    remoteParentSampled: isParentBased ? limitPerSecond(callersPerSecond, fresh) : fresh,
    remoteParentNotSampled: isParentBased ? new AlwaysOffSampler() : fresh,
  });
}

function makeRootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler();
  return name === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}

/** Decides as for a new trace. The caller chose its trace id, and could choose one that a ratio always samples. */
function sampleLikeNew(root: Sampler): Sampler {
  const ids = new RandomIdGenerator();
  return {
    shouldSample: (_context, _traceId, ...rest) =>
      root.shouldSample(ROOT_CONTEXT, ids.generateTraceId(), ...rest),
    toString: () => `new trace: ${String(root)}`,
  };
}

/** Samples at most this number of traces per second, and beyond it as often as new traces. */
function limitPerSecond(limit: number, beyond: Sampler): Sampler {
  let windowEndsMs = 0;
  let count = 0;
  return {
    shouldSample(...parameters) {
      const nowMs = performance.now();
      if (nowMs >= windowEndsMs) {
        windowEndsMs = nowMs + WINDOW_MS;
        count = 0;
      }
      count += 1;
      return count <= limit
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : beyond.shouldSample(...parameters);
    },
    toString: () => `${limit} per second, then ${String(beyond)}`,
  };
}
