// Questions to the server: the models are those of its own description (models.d.ts is generated from it).
import type { components } from "./models";

type Models = components["schemas"];
export type SliceAnswer = Models["SliceAnswerModel"];
export type Catalog = Models["CatalogModel"];
export type CatalogEntry = Models["CatalogEntryModel"];
export type LakeStatus = Models["LakeStatusModel"];
export type Matrix = Models["SliceMatrixModel"];
export type MatrixRow = Models["MatrixRowModel"];
export type MatrixCell = Models["MatrixCellModel"];
export type EntityGraph = Models["EntityGraphModel"];
export type GraphPicture = Models["GraphPictureModel"];
export type GraphStates = Models["GraphStatesModel"];
export type Pressing = Models["PressingModel"];
export type Baselines = Models["BaselinesModel"];
export type Baseline = Models["BaselineModel"];
export type Backfill = Models["BackfillModel"];
export type Backfills = Models["BackfillsModel"];
export type BackfillPage = Models["BackfillPageModel"];
export type Impact = Models["ImpactModel"];
export type PlannedBackfill = Models["PlannedBackfillModel"];
export type Requirement = Models["RequirementModel"];
export type Status = Models["StatusModel"];
export type LifeEvent = Models["LifeEventModel"];
export type Rule = Models["RuleModel"];
export type ChainLink = Models["ChainLinkModel"];
type Session = Models["SessionModel"];

/** An answer that is no success, in the server's own words; status 0 is a server that does not answer. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

let csrf: string | null = null;

async function ask<T>(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { method, headers, cache: "no-cache", credentials: "same-origin", ...(body === undefined ? {} : { body }) });
  } catch {
    throw new ApiError(0, "The server does not answer.", "It may be starting again; this page goes on by itself.");
  }
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer as T;
  const error = (answer as { error?: Record<string, string | null> } | null)?.error;
  const told = [error?.["expected"] && `Expected ${error["expected"]}.`, error?.["hint"]].filter(Boolean).join(" ");
  throw new ApiError(response.status, sentence(error?.["message"] ?? `The server answered ${response.status}`), told);
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

export const get = <T>(path: string): Promise<T> => ask<T>("GET", path);

/** What changes something names the word of its session. */
export const post = <T>(path: string, body: unknown): Promise<T> =>
  ask<T>("POST", path, { "Content-Type": "application/json", ...(csrf ? { "X-CSRF-Token": csrf } : {}) }, JSON.stringify(body));

/** Who the server takes this browser for; `hasSession` where that is by a login. */
export async function session(): Promise<{ who: string; hasSession: boolean }> {
  const told = await get<Session>("/v1/session");
  csrf = told.csrf;
  return { who: told.who, hasSession: csrf !== null };
}

export async function logIn(token: string): Promise<void> {
  csrf = (await ask<Session>("POST", "/v1/session", { Authorization: `Bearer ${token}` })).csrf;
}

export async function logOut(): Promise<void> {
  await ask<Session>("DELETE", "/v1/session", csrf ? { "X-CSRF-Token": csrf } : {});
  csrf = null;
}
