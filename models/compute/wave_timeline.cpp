#include "compute/wave_timeline.h"

namespace t3vp::compute {

void WaveTimeline::begin(Wave& wave) {
  wave.part.name.clear();
  wave.part.since = now();
  wave.part.tile = T3_NO_TILE;
}

/// The part of the wave's program that ends now, which is the kernel itself at first.
void WaveTimeline::end_part(const Wave& wave) {
  Trace::Track track = 0;
  Trace* const trace = host_.trace(wave.slot, wave.given.workgroup, track);
  if (trace == nullptr) return;
  const char* const name = wave.part.name.empty() ? name_.c_str() : wave.part.name.c_str();
  if (wave.part.tile == T3_NO_TILE)
    trace->span(track, name, wave.part.since, now());
  else
    trace->span(track, name, wave.part.since, now(), flow_of(host_.gpu(), wave.part.tile, 0));
}

void WaveTimeline::show(Wave& wave, const t3_span& part) {
  const KernelTime time(host_, code_of(wave));
  end_part(wave);
  workgroups_[wave.slot].shows_parts = true;
  wave.part.name = part.text;
  wave.part.since = now();
  wave.part.tile = part.workgroup;
}

void WaveTimeline::note(const Wave& wave, const t3_mark& instant) {
  Trace::Track track = 0;
  Trace* const trace = host_.trace(wave.slot, wave.given.workgroup, track);
  if (trace == nullptr) return;
  const KernelTime time(host_, code_of(wave));
  trace->instant(track, instant.text, now(), instant.to == 0 ? 0 : flow_to(instant.to));
}

void WaveTimeline::end(const Wave& wave) {
  if (!wave.part.name.empty()) end_part(wave);
}

void WaveTimeline::end_workgroup(const Wave& wave) {
  const Workgroup& workgroup = workgroups_[wave.slot];
  if (workgroup.shows_parts) return;
  Trace::Track track = 0;
  if (Trace* trace = host_.trace(wave.slot, wave.given.workgroup, track))
    trace->span(track, name_.c_str(), workgroup.begin, now());
}

}  // namespace t3vp::compute
