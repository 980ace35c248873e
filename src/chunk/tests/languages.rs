//! One readable source a language, and what it falls into.
//!
//! Each line of an expectation is a chunk: its lines, kind, symbol, the names around it, and what else
//! it defines. Sizes are set so that nothing small is joined.

use super::*;

/// Sizes with which every definition shows.
const FINE: Sizes = Sizes { tiny: 12, small: 0, small_type: 0, suite: 0, ..SIZES };

/// A file's name, its text, and what it falls into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) name: &'static str,
    text: &'static str,
    expected: &'static str,
}

impl Sample {
    /// The text, without the line break after the opening quote.
    pub(super) fn text(&self) -> &'static str {
        self.text.trim_start_matches('\n')
    }
}

/// What a text falls into, one line a chunk, after the words of its imports.
fn shown(name: &str, text: &str) -> String {
    let (path, language) = named(name, text);
    let pieces = split_by(&FINE, &path, language, text);
    check(text, &pieces).expect("a proper split");
    let mut out = format!("imports {}\n", pieces.imports.join(" "));
    for chunk in &pieces.chunks {
        let lines = format!("{}-{}", chunk.lines.start, chunk.lines.end);
        let symbol = chunk.symbol.as_deref().unwrap_or("-");
        let around = chunk.parents.join(" > ");
        let others = &chunk.defines[usize::from(chunk.symbol.is_some())..];
        let line = format!("{lines} {} {symbol} [{around}] {}", chunk.kind, others.join(" "));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[test]
fn every_language_falls_into_its_definitions() {
    let mut wrong = String::new();
    for sample in SAMPLES {
        let shown = shown(sample.name, sample.text());
        if shown != sample.expected.trim_start_matches('\n') {
            wrong.extend(["== ", sample.name, "\n", &shown]);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

pub(super) const SAMPLES: &[Sample] = &[
    Sample {
        name: "sample.vue",
        text: r#"
<script setup lang="ts">
import { ref } from 'vue'
import Row from './Row.vue'

const LIMIT = 3

function open(id: number) {
  return id + LIMIT
}
</script>

<template>
  <Row v-for="n in 3" :key="n" @click="open(n)" />
</template>

<style scoped>
.row {
  color: red;
}
</style>
"#,
        expected: "
imports ref vue Row
1-5 block - [] LIMIT
7-9 function open []
10-20 block - []
",
    },
    Sample {
        name: "sample.md",
        text: r"
---
title: Retries
---

Before all headings.

# Retry #

Tries until it works.

## Install

```sh
# not a heading
cargo add retry
```

### From source

Clone it.

Usage
-----

Call `run`.

Limits
======

There are **none**.
",
        expected: "
imports 
1-5 section - []
7-9 section Retry []
11-16 section Install [Retry]
18-20 section From source [Retry > Install]
22-25 section Usage [Retry]
27-30 section Limits []
",
    },
    Sample {
        name: "sample.txt",
        text: r"
Retries
=======

Just lines.

No structure.
",
        expected: "
imports 
1-6 window - []
",
    },
    Sample {
        name: "sample.lhs",
        text: r"
This program retries.

> module Main where
>
> -- | Runs it.
> run :: Int -> Int
> run 0 = 1
> run n = n

And that is all.
",
        expected: "
imports 
1-4 block - []
5-8 function run []
10-10 block - []
",
    },
    Sample {
        name: "sample.h",
        text: r"
#pragma once
#include <string>

namespace retry {

RETRY_BEGIN_API

class RETRY_EXPORT Policy {
 public:
  int next() const {
    return 1;
  }
};

}
",
        expected: "
imports string
1-2 block - []
4-6 block - [retry]
8-9 type Policy [retry]
10-15 method next [retry > Policy]
",
    },
    Sample {
        name: "sample.rs",
        text: r"
//! Retries.
use std::{collections::HashMap, time::Duration};

const TRIES_MAX: usize = 3;
type Waits = HashMap<usize, Duration>;

/// How often to try.
#[derive(Clone, Debug)]
pub struct Policy<T> {
    pub tries: usize,
    wait: T,
}

impl<T: Clone> fmt::Display for Policy<T> {
    const WIDTH: usize = 4;

    /// Writes it.
    #[inline]
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        Ok(())
    }
}

pub trait Retry {
    fn wait(&self) -> Duration;

    fn tries(&self) -> usize {
        TRIES_MAX
    }
}

macro_rules! twice {
    ($e:expr) => {
        ($e, $e)
    };
}

cfg_net! {
    pub fn connect(to: &str) -> bool {
        to.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits() {
        assert!(true);
    }
}
",
        expected: "
imports HashMap Duration
1-5 block - [] TRIES_MAX Waits
7-12 type Policy []
14-15 block - [Policy] WIDTH
17-22 method fmt [Policy]
24-24 type Retry []
25-25 method wait [Retry]
27-30 method tries [Retry]
32-36 function twice []
38-42 function connect []
44-46 block - [tests]
48-52 function waits [tests]
",
    },
    Sample {
        name: "sample.go",
        text: r#"
// Package retry tries again.
package retry

import (
	"time"

	yaml "gopkg.in/yaml.v3"
)

const (
	Slow = iota
	Fast
)

var ErrGaveUp = errors.New("gave up")

// Policy says how often.
type Policy struct {
	Tries int
}

type (
	Waiter interface {
		Wait() time.Duration
	}
	Pair[K any] struct {
		Key K
	}
)

// Do runs it.
func (p *Policy) Do(run func() error) error {
	return run()
}

func (p Pair[K]) Swap() {
	swap(p)
}

func New(tries int) *Policy {
	return &Policy{tries}
}

var handler = func(w Writer) {
	w.Write()
}
"#,
        expected: "
imports time yaml
1-15 block - [] Slow Fast ErrGaveUp
17-20 type Policy []
22-25 type Waiter []
26-29 type Pair []
31-34 method Do [Policy]
36-38 method Swap [Pair]
40-42 function New []
44-46 function handler []
",
    },
    Sample {
        name: "Sample.java",
        text: r#"
package a.retry;

import java.time.Duration;
import static java.util.Objects.requireNonNull;

/**
 * How often to try.
 */
@Immutable(since = "1")
public final class Policy<T> extends Base implements Retry {
    private static final int TRIES_MAX = 3;
    private final T wait;

    /** Makes one. */
    public Policy(T wait) {
        this.wait = wait;
    }

    @Override
    public <R> R run(Supplier<R> work) throws IOException {
        return work.get();
    }

    enum Speed {
        SLOW, FAST;

        Speed other() {
            return this == SLOW ? FAST : SLOW;
        }
    }

    interface Listener {
        void failed(int tries);
    }

    record Pair(int a, int b) {
        Pair {
            check(a);
        }
    }
}
"#,
        expected: "
imports Duration requireNonNull
1-4 block - []
6-12 type Policy [] TRIES_MAX
14-17 method Policy [Policy]
19-22 method run [Policy]
24-25 type Speed [Policy] SLOW FAST
27-30 method other [Policy > Speed]
32-32 type Listener [Policy]
33-34 method failed [Policy > Listener]
36-36 type Pair [Policy]
37-41 method Pair [Policy > Pair]
",
    },
    Sample {
        name: "sample.py",
        text: r#"
"""Retries."""
from __future__ import annotations

import os.path as osp
from .errors import (GaveUp, Slow as Late)

if TYPE_CHECKING:
    from typing import Callable

TRIES_MAX: int = 3
first, second = 1, 2

# Runs it.
@cached(size=1)
async def run(work, *, tries=1) -> int:
    """Tries until it works."""
    def once():
        return work()
    return once()

@dataclass
class Policy(Base, metaclass=Meta):
    """How often to try."""
    tries: int
    DEFAULT = 3

    @property
    def wait(self):
        return self.tries

    class Meta:
        abstract = True

    async def run(self):
        pass

try:
    import uvloop
except ImportError:
    def install():
        return None

if __name__ == "__main__":
    run(1)
"#,
        expected: "
imports __future__ annotations path osp errors GaveUp Slow Late typing Callable uvloop
1-11 block - [] TRIES_MAX first second
13-19 function run []
21-25 type Policy [] DEFAULT
27-29 method wait [Policy]
31-32 type Meta [Policy]
34-35 method run [Policy]
37-39 block - []
40-41 function install []
43-44 block - []
",
    },
    Sample {
        name: "sample.js",
        text: r"
import retry, { wait as pause } from './lib/retry.js';
const { join, sep: slash } = require('node:path');

export const run = async (work) => {
  return work();
};

export default function main() {
  run();
}

module.exports.stop = function (now) {
  now();
};

Policy.prototype.next = function () {
  return 1;
};

class Policy extends Base {
  static tries = 3;
  #wait = 1;

  onFail = (error) => {
    this.log(error);
  };

  constructor() {
    super();
  }

  get wait() {
    return this.#wait;
  }
}

const handlers = {
  open() {
    return 1;
  },
  close: () => {
    return 2;
  },
};

export const Panel = memo(function Panel() {
  return <div />;
});

const LIMIT = 3, names = [];

describe('retry', () => {
  beforeEach(() => {
    reset();
  });

  it('gives up', async () => {
    expect(1);
  });

  test.each([1, 2])(`tries ${n} times`, () => {
    expect(2);
  });
});

(function () {
  setup();
})();
",
        expected: "
imports retry wait pause join slash path
1-2 block - []
4-6 function run []
8-10 function main []
12-14 function stop []
16-18 method next [Policy]
20-22 type Policy []
24-26 method onFail [Policy]
28-30 method constructor [Policy]
32-35 method wait [Policy]
37-37 type handlers []
38-40 method open [handlers]
41-44 method close [handlers]
46-48 function Panel []
50-50 block - [] LIMIT names
52-55 function retry []
57-59 function gives up [retry]
61-64 function tries ${n} times [retry]
66-68 block - []
",
    },
    Sample {
        name: "sample.ts",
        text: r#"
import type { Work } from './work';
import fs = require("fs");

export interface Retry<T> extends Base {
  tries: number;
  run(work: Work): T;
}

export type Waits = Record<string, number>;

export enum Speed { Slow = 1, Fast }

export namespace Times {
  export const second = 1000;
  export function minutes(n: number) {
    return n * 60;
  }
}

/** How often to try. */
@Injectable()
export abstract class Policy<T> implements Retry<T> {
  private readonly wait: number = 1;

  constructor(private tries: number) {
    super();
  }

  @Input()
  run<R>(work: Work): R {
    return work();
  }

  abstract next(): void;

  handler = (e: Event): void => {
    stop(e);
  };
}

export function pick(a: string): void;
export function pick(a: number): void;
export function pick(a: any): void {
  use(a);
}

declare module "ambient" {
  export function shim(): void;
}

export const table = { a: 1 } as const;

export default {
  name: 'thing',
  data() {
    return 1;
  },
};
"#,
        expected: "
imports Work work fs
1-2 block - []
4-5 type Retry []
6-7 method run [Retry]
9-9 type Waits []
11-11 type Speed [] Slow Fast
13-14 block - [Times] second
15-18 function minutes [Times]
20-23 type Policy []
25-27 method constructor [Policy]
29-32 method run [Policy]
34-34 method next [Policy]
36-39 method handler [Policy]
41-45 function pick []
47-47 block - [ambient]
48-49 function shim [ambient]
51-54 block - [] table
55-58 function data []
",
    },
    Sample {
        name: "sample.tsx",
        text: r#"
import { useState } from "react";

type Props = { open: boolean };

export function Panel({ open }: Props) {
  const [x, setX] = useState(0);
  return <div onClick={() => setX(1)}>{x}</div>;
}

export const Row = React.forwardRef<HTMLElement, Props>((props, ref) => {
  return <tr ref={ref} />;
});
"#,
        expected: "
imports useState react
1-1 block - []
3-3 type Props []
5-8 function Panel []
10-12 function Row []
",
    },
    Sample {
        name: "sample.c",
        text: r#"
#ifndef RETRY_H
#define RETRY_H
#include <stdio.h>
#include "lib/wait.h"

#define TRIES_MAX 3
#define TWICE(x) \
    ((x) + (x))

typedef int (*work_fn)(int);

typedef struct policy {
    int tries;
} policy_t;

enum speed { SLOW, FAST = 2 };

static const int waits[] = { 1, 2 };

extern int declared(int a);

/* Runs it. */
static inline char *run(policy_t *policy,
                        work_fn work)
{
    return work(policy->tries);
}

#ifdef NET
struct peer *connect_to(void)
{
    return 0;
}
#else
int offline(void)
{
    return 1;
}
#endif
#endif
"#,
        expected: "
imports stdio wait
1-10 block - [] TRIES_MAX TWICE work_fn
12-14 type policy_t []
16-16 type speed [] SLOW FAST
18-20 block - [] waits
22-27 function run []
29-33 function connect_to []
34-38 function offline []
39-40 block - []
",
    },
    Sample {
        name: "sample.cpp",
        text: r#"
#include <vector>
using namespace std;
using Waits = vector<int>;

namespace net::retry {

// How often to try.
template <typename T, int N>
class Policy : public Base<T> {
 public:
  Policy() : tries_(1) {
    start();
  }

  virtual int next(int a) const override {
    return a;
  }

  bool operator==(const Policy& other) const {
    return true;
  }

  struct Inner {
    int a;
  };

 private:
  int tries_;
  static constexpr int kMax = 3;
};

template <typename T>
Policy<T>::~Policy() {
  stop();
}

int Outer::Inner::count(int x) const {
  return x;
}

enum class Speed { Slow, Fast };

extern "C" {
void c_run(void) {
  run();
}
}

TEST(PolicyTest, GivesUp) {
  EXPECT_EQ(1, 1);
}

TEST_CASE("policy waits") {
  CHECK(true);
}

}  // namespace net::retry
"#,
        expected: "
imports vector
1-3 block - [] Waits
5-5 block - [net::retry]
7-10 type Policy [net::retry]
11-13 method Policy [net::retry > Policy]
15-17 method next [net::retry > Policy]
19-21 method operator== [net::retry > Policy]
23-25 type Inner [net::retry > Policy]
27-30 block - [net::retry > Policy]
32-35 method ~Policy [net::retry > Policy]
37-39 method count [net::retry > Outer > Inner]
41-41 type Speed [net::retry] Slow Fast
43-47 function c_run [net::retry]
49-51 function GivesUp [net::retry > PolicyTest]
53-55 function policy waits [net::retry]
57-57 block - [net::retry]
",
    },
    Sample {
        name: "sample.cs",
        text: r"
using System;
using Waits = System.Collections.Generic.List<int>;

namespace Net.Retry
{
    /// <summary>How often to try.</summary>
    [Serializable]
    public partial class Policy<T> : Base, IRetry where T : class
    {
        private const int TriesMax = 3;

        public int Tries { get; set; } = 1;

        public int Wait
        {
            get { return wait; }
            set { wait = value; }
        }

        public Policy(int tries) : base(tries)
        {
            Tries = tries;
        }

        public async Task<int> Run<R>(Func<R> work)
        {
            return 1;
        }

        public static Policy<T> operator +(Policy<T> a, Policy<T> b) => a;

        private enum Speed { Slow, Fast }
    }

    public record struct Pair(int A, int B);

    public interface IRetry
    {
        void Next();
    }
}
",
        expected: "
imports System Waits int
1-2 block - []
4-5 block - [Net.Retry]
6-12 type Policy [Net.Retry] TriesMax Tries
14-18 method Wait [Net.Retry > Policy]
20-23 method Policy [Net.Retry > Policy]
25-28 method Run [Net.Retry > Policy]
30-30 method operator + [Net.Retry > Policy]
32-33 type Speed [Net.Retry > Policy] Slow Fast
35-35 type Pair [Net.Retry]
37-38 type IRetry [Net.Retry]
39-41 method Next [Net.Retry > IRetry]
",
    },
    Sample {
        name: "sample.rb",
        text: r#"
# frozen_string_literal: true
require "json"
require_relative "lib/wait"

module Net::Retry
  TRIES_MAX = 3

  # How often to try.
  class Policy < Base
    include Enumerable
    attr_reader :tries

    # Makes one.
    def self.build(tries)
      new(tries)
    end

    def run
      yield
    end

    private

    def wait?
      true
    end

    class << self
      def default
        build(1)
      end
    end

    private def secret
      1
    end
  end

  Pair = Struct.new(:a, :b) do
    def swap
      [b, a]
    end
  end
end

RSpec.describe Net::Retry do
  let(:policy) { Policy.new }

  it "gives up" do
    expect(policy.run).to be_nil
  end

  context "when slow" do
    it "waits" do
      expect(1)
    end
  end
end
"#,
        expected: "
imports json wait
1-3 block - []
5-6 type Retry [Net] TRIES_MAX
8-11 type Policy [Net > Retry]
13-16 method build [Net > Retry > Policy]
18-20 method run [Net > Retry > Policy]
22-26 method wait? [Net > Retry > Policy]
28-32 method default [Net > Retry > Policy]
34-37 method secret [Net > Retry > Policy]
39-39 type Pair [Net > Retry]
40-44 method swap [Net > Retry > Pair]
46-47 function Net::Retry []
49-51 function gives up [Net::Retry]
53-53 function when slow [Net::Retry]
54-58 function waits [Net::Retry > when slow]
",
    },
    Sample {
        name: "sample.php",
        text: r"
<?php
declare(strict_types=1);

namespace Net\Retry;

use Psr\Log\LoggerInterface as Log;
use function Net\{pause, resume as go};

const TRIES_MAX = 3;
define('DEBUG', 1);

/** How often to try. */
#[Attribute]
final class Policy extends Base implements Retry
{
    use Waits;

    public const DEFAULT = 1;
    private int $tries = 1;

    /** Makes one. */
    public function __construct(private Log $log)
    {
        parent::__construct();
    }

    public static function build(): self
    {
        return new self();
    }
}

trait Waits
{
    function wait()
    {
        sleep(1);
    }
}

enum Speed: string
{
    case Slow = 's';
}

function run(callable $work)
{
    return $work();
}

$handler = function ($e) {
    log($e);
};
",
        expected: "
imports LoggerInterface Log pause resume go
1-10 block - [] TRIES_MAX DEBUG
12-19 type Policy [] DEFAULT
21-25 method __construct [Policy]
27-31 method build [Policy]
33-34 type Waits []
35-39 method wait [Waits]
41-44 type Speed [] Slow
46-49 function run []
51-53 function handler []
",
    },
    Sample {
        name: "sample.kt",
        text: r#"
@file:JvmName("Retry")

package net.retry

import kotlin.time.Duration
import net.log.Logger as Log

const val TRIES_MAX = 3

typealias Work = () -> Unit

/** How often to try. */
@Serializable
data class Policy<T>(val tries: Int, private var wait: T) : Base(tries), Retry {
    val next: Int = 1

    var state: Int
        get() = field
        set(value) {
            field = value
        }

    constructor(tries: Int) : this(tries, null) {
        start()
    }

    override fun run(work: Work): Int {
        return work()
    }

    companion object {
        const val DEFAULT = 1

        fun build(): Policy = Policy(1)
    }

    enum class Speed { SLOW, FAST }
}

interface Retry {
    fun run(work: Work): Int
}

fun String.toPolicy(tries: Int): Policy {
    return Policy(tries)
}

object Default {
    fun run() {
        start()
    }
}

class RetryTest {
    @Test
    fun `gives up after three`() {
        check(true)
    }
}
"#,
        expected: "
imports Duration Logger Log
1-10 block - [] TRIES_MAX Work
12-15 type Policy []
17-21 method state [Policy]
23-25 method constructor [Policy]
27-29 method run [Policy]
31-32 type Companion [Policy] DEFAULT
34-35 method build [Policy > Companion]
37-38 type Speed [Policy] SLOW FAST
40-40 type Retry []
41-42 method run [Retry]
44-46 method toPolicy [String]
48-48 type Default []
49-52 method run [Default]
54-54 type RetryTest []
55-59 method gives up after three [RetryTest]
",
    },
    Sample {
        name: "sample.swift",
        text: r"
import Foundation
import class UIKit.UIView

let triesMax = 3
public typealias Work = () -> Void

/// How often to try.
@available(iOS 13, *)
open class Policy<T>: Base, Retry where T: Equatable {
    static let shared = Policy()
    var tries: Int = 1

    var wait: Int {
        get { 1 }
        set { tries = newValue }
    }

    init(tries: Int) {
        self.tries = tries
    }

    deinit {
        stop()
    }

    override func run<R>(_ work: Work) async throws -> R {
        return work()
    }

    enum Speed: String {
        case slow, fast
    }
}

extension Array where Element: Retry {
    func runAll() {
        forEach { $0.run() }
    }
}

protocol Retry {
    func run()
}

struct Pair { let a: Int }

#if DEBUG
func debugRun() {
    run()
}
#endif
",
        expected: "
imports Foundation UIView
1-5 block - [] triesMax Work
7-11 type Policy []
13-16 method wait [Policy]
18-20 method init [Policy]
22-24 method deinit [Policy]
26-28 method run [Policy]
30-33 type Speed [Policy] slow fast
35-35 block - [Array]
36-39 method runAll [Array]
41-41 type Retry []
42-43 method run [Retry]
45-45 type Pair []
47-51 function debugRun []
",
    },
    Sample {
        name: "sample.scala",
        text: r#"
package net.retry

import cats.effect.{IO, Resource => Res}
import scala.concurrent.duration._

/** How often to try. */
@deprecated("use Waits", "1")
final case class Policy[T](tries: Int)(implicit log: Log) extends Base with Retry {
  val next = 1
  type Out = T

  def run[A](work: IO[A]): IO[A] = {
    work
  }

  override def toString: String =
    s"Policy($tries)"
}

object Policy {
  val Default = Policy(1)

  def apply(): Policy =
    Default

  implicit class Ops(self: Int) {
    def times =
      Policy(self)
  }
}

trait Retry {
  def run(): Unit
}

enum Speed {
  case Slow, Fast
}

given ord: Ordering[Policy] with {
  def compare(a: Policy, b: Policy) =
    1
}

extension (s: String)
  def toPolicy: Policy =
    Policy(s.toInt)

def main(args: Array[String]): Unit =
  println("x")

class PolicySuite extends FunSuite {
  test("gives up") {
    assert(true)
  }

  "a policy" should {
    "wait" in {
      assert(true)
    }
  }
}
"#,
        expected: "
imports IO Resource Res duration
1-4 block - []
6-10 type Policy [] Out
12-14 method run [Policy]
16-18 method toString [Policy]
20-21 type Policy [] Default
23-26 method apply [Policy]
27-27 type Ops [Policy]
28-30 method times [Policy > Ops]
32-32 type Retry []
33-34 method run [Retry]
36-38 type Speed [] Slow Fast
40-40 type ord []
41-43 method compare [ord]
45-45 block - [String]
46-47 method toPolicy [String]
49-50 function main []
52-52 type PolicySuite []
53-55 method gives up [PolicySuite]
57-57 function a policy [PolicySuite]
58-62 function wait [PolicySuite > a policy]
",
    },
    Sample {
        name: "sample.sh",
        text: r#"
#!/usr/bin/env bash
set -euo pipefail
source "$DIR/lib/wait.sh"

readonly TRIES_MAX=3
export LEVEL=debug

# Runs it.
run() {
  local tries=$1
  "$@"
}

function stop {
  exit 1
}

if [ -n "$NET" ]; then
  connect() {
    nc "$1"
  }
fi

run "$@"
"#,
        expected: "
imports wait
1-6 block - [] TRIES_MAX LEVEL
8-12 function run []
14-16 function stop []
18-18 block - []
19-24 function connect []
",
    },
    Sample {
        name: "sample.bats",
        text: r#"
load test_helper

setup() {
  cd "$BATS_TMPDIR"
}

@test "gives up after three tries" {
  run retry 3
  [ "$status" -eq 1 ]
}

@test 'waits' {
  run wait
}
"#,
        expected: "
imports test_helper
1-1 block - []
3-5 function setup []
7-10 function gives up after three tries []
12-14 function waits []
",
    },
    Sample {
        name: "sample.lua",
        text: r#"
local M = {}
local wait = require("lib.wait")
local TRIES_MAX = 3

--- Runs it.
---@param work function
function M.run(work)
  return work()
end

M.stop = function()
  return nil
end

local function once()
  return 1
end

function M:next()
  return self
end

local handlers = {
  open = function()
    return 1
  end,
  count = 2,
}

describe("retry", function()
  it("gives up", function()
    assert(true)
  end)
end)

return M
"#,
        expected: "
imports wait
1-3 block - [] M TRIES_MAX
5-9 function run [M]
11-13 function stop [M]
15-17 function once []
19-21 method next [M]
23-23 type handlers []
24-28 method open [handlers]
30-30 function retry []
31-34 function gives up [retry]
36-36 block - []
",
    },
    Sample {
        name: "sample.ex",
        text: r#"
defmodule Net.Retry do
  @moduledoc """
  Retries.
  """
  use GenServer, restart: :temporary
  alias Net.{Log, Wait}
  import Kernel, except: [run: 1]

  @tries_max 3
  @type t :: %__MODULE__{}
  defstruct [:tries]

  @doc "Runs it."
  @spec run(integer) :: integer
  def run(tries) when tries > 1 do
    tries
  end

  def run(_), do: 1

  defp wait(tries) do
    tries
  end

  defmacro retry(do: block) do
    quote do
      unquote(block)
    end
  end
end

defimpl Inspect, for: Net.Retry do
  def inspect(policy, _) do
    policy
  end
end

defmodule Net.RetryTest do
  describe "run/1" do
    test "gives up", %{conn: conn} do
      assert conn
    end
  end
end
"#,
        expected: "
imports GenServer Log Wait Kernel
1-11 type Net.Retry [] tries_max t
13-19 function run [Net.Retry]
21-23 function wait [Net.Retry]
25-30 function retry [Net.Retry]
32-32 type Inspect.Net.Retry []
33-36 function inspect [Inspect.Net.Retry]
38-38 type Net.RetryTest []
39-39 function run/1 [Net.RetryTest]
40-44 function gives up [Net.RetryTest > run/1]
",
    },
    Sample {
        name: "sample.hs",
        text: r"
{-# LANGUAGE LambdaCase #-}
-- | Retries.
module Net.Retry (run, Policy(..)) where

import Data.Map (Map, insert)
import qualified Data.Set as Set
import Prelude hiding (wait)

-- | How often to try.
data Policy a = Policy { tries :: Int } | Never a
  deriving (Show)

newtype Wait = Wait { unWait :: Int }

type Work = Int -> IO ()

class Retry a where
  next :: a -> Int
  next _ = 1

instance Retry Wait where
  next w = unWait w

-- | Runs it.
run :: Int -> Int
run 0 = 1
run n
  | n > 1 = 2
  | otherwise = x
  where
    x = 3

a <+> b = a

{-# INLINE wait #-}
wait :: IO ()
wait = do
  print 1
",
        expected: "
imports Map insert Set Prelude
1-7 block - []
9-11 type Policy [] Never
13-13 type Wait []
15-15 type Work []
17-17 type Retry []
18-19 method next [Retry]
21-21 block - [Retry Wait]
22-22 method next [Retry Wait]
24-31 function run []
33-33 function <+> []
35-38 function wait []
",
    },
    Sample {
        name: "sample.zig",
        text: r#"
//! Retries.
const std = @import("std");
const Wait = @import("wait.zig").Wait;

pub const tries_max: u8 = 3;

/// How often to try.
pub const Policy = struct {
    tries: u8,
    const default = 1;

    pub fn init(tries: u8) Policy {
        return .{ .tries = tries };
    }

    const Speed = enum { slow, fast };
};

pub fn run(work: Work) !void {
    try work();
}

fn List(comptime T: type) type {
    return struct {
        items: []T,

        pub fn len(self: @This()) usize {
            return self.items.len;
        }
    };
}

test "gives up" {
    try run(once);
}
"#,
        expected: "
imports std Wait wait
1-5 block - [] tries_max
7-10 type Policy []
12-14 method init [Policy]
16-17 type Speed [Policy]
19-21 function run []
23-25 type List []
27-31 method len [List]
33-35 function gives up []
",
    },
];
