/**
 * A type in the form that both a written-out interface and the output of a zod schema have: deeply
 * read-only, without the index signature of a loose object that has members, and without members
 * that are always undefined.
 */
export type Comparable<Type> = Type extends readonly (infer Item)[]
  ? readonly Comparable<Item>[]
  : Type extends object
    ? [KnownName<Type>] extends [never]
      ? Readonly<Type>
      : { readonly [Name in keyof Type as Compared<Type, Name>]: Comparable<Type[Name]> }
    : Type;

type KnownName<Type> = keyof {
  [Name in keyof Type as string extends Name ? never : number extends Name ? never : Name]: Name;
};

type Compared<Type, Name extends keyof Type> =
  Name extends KnownName<Type> ? ([Type[Name]] extends [undefined] ? never : Name) : never;
