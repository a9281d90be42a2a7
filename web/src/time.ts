// Times as people read them, always with their zone: the entity's own, and the viewer's where that is another.
export const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** `UTC+8` and `UTC-3:30` are zones of declarations; browsers know the names of the time-zone database and offsets. */
function zoneOf(name: string): string {
  const fixed = /^UTC([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(name);
  return fixed ? `${fixed[1]}${(fixed[2] ?? "0").padStart(2, "0")}:${fixed[3] ?? "00"}` : name;
}

export function timeIn(zone: string, instant: string, seconds = false): string {
  const options: Intl.DateTimeFormatOptions = {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    ...(seconds ? { second: "2-digit" } : {}),
    hourCycle: "h23",
    timeZone: zoneOf(zone),
    timeZoneName: "longOffset",
  };
  let parts: Intl.DateTimeFormatPart[];
  try {
    parts = new Intl.DateTimeFormat("en-CA", options).formatToParts(new Date(instant));
  } catch {
    return `${instant} (UTC)`;
  }
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
  const offset = of("timeZoneName").replace("GMT", "") || "+00:00";
  const clock = [of("hour"), of("minute"), ...(seconds ? [of("second")] : [])].join(":");
  return `${of("year")}-${of("month")}-${of("day")} ${clock}${offset}`;
}

export function ago(instant: string, now: number): string {
  const seconds = Math.round((now - Date.parse(instant)) / 1000);
  const size = Math.abs(seconds);
  const [count, unit] =
    size < 60 ? [size, "s"] : size < 3600 ? [size / 60, "min"] : size < 172_800 ? [size / 3600, "h"] : [size / 86_400, "days"];
  const words = `${Math.floor(count)} ${unit}`;
  return seconds < 0 ? `in ${words}` : `${words} ago`;
}
