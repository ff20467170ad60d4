//! Examples of each behaviour: code with the behaviour, and similar code without.

use super::*;

fn found(path: &str, text: &str) -> BTreeSet<Behaviour> {
    behaviours_in(path, text, LineRange::range(1, text.lines().count() as u32).into_iter())
}

/// Checks that some files have a behaviour, and that other, similar files do not.
fn check(behaviour: Behaviour, fire: &[(&str, &str)], rest: &[(&str, &str)]) {
    let endings: BTreeSet<&str> =
        fire.iter().filter_map(|(path, _)| path.rsplit('.').next()).collect();
    assert!(endings.len() >= 4, "{behaviour:?} has examples in {endings:?} only");
    for (path, text) in fire {
        assert!(
            found(path, text).contains(&behaviour),
            "{behaviour:?} is not seen in {path}:\n{text}"
        );
    }
    for (path, text) in rest {
        assert!(
            !found(path, text).contains(&behaviour),
            "{behaviour:?} is seen in {path}:\n{text}"
        );
    }
}

#[test]
fn a_read_that_is_tested_and_followed_by_a_write_is_check_then_act() {
    check(
        Behaviour::CheckThenAct,
        &[
            (
                "a.py",
                "def use(code):\n    if Coupon.objects.filter(code=code).exists():\n        raise Used()\n    Coupon.objects.create(code=code)\n",
            ),
            (
                "a.py",
                "def sell(id):\n    item = Stock.objects.get(id=id)\n    item.count -= 1\n    item.save()\n",
            ),
            (
                "a.py",
                "def put(path, text):\n    if not os.path.exists(path):\n        open(path, 'w').write(text)\n",
            ),
            (
                "a.rb",
                "def sell(id)\n  stock = Stock.find(id)\n  raise Empty if stock.count < 1\n  stock.update!(count: stock.count - 1)\nend\n",
            ),
            (
                "a.php",
                "<?php\nfunction use_it($code) {\n  if (Coupon::where('code', $code)->exists()) { return; }\n  Coupon::create(['code' => $code]);\n}\n",
            ),
            (
                "a.ts",
                "async function join(id: string) {\n  const seat = await prisma.seat.findUnique({ where: { id } });\n  if (seat.taken) throw new Error();\n  await prisma.seat.update({ where: { id }, data: { taken: true } });\n}\n",
            ),
            (
                "a.js",
                "function put(path, text) {\n  if (!fs.existsSync(path)) {\n    fs.writeFileSync(path, text);\n  }\n}\n",
            ),
            (
                "a.go",
                "package a\nfunc sell(db *sql.DB, id int) error {\n\tvar n int\n\tdb.QueryRow(\"SELECT count FROM stock WHERE id = $1\", id).Scan(&n)\n\tif n < 1 {\n\t\treturn errEmpty\n\t}\n\t_, err := db.Exec(\"UPDATE stock SET count = $1 WHERE id = $2\", n-1, id)\n\treturn err\n}\n",
            ),
            (
                "A.java",
                "class A {\n  void reserve(long id) {\n    Seat seat = seatRepository.findById(id).get();\n    if (seat.isTaken()) { throw new Taken(); }\n    seat.setTaken(true);\n    seatRepository.save(seat);\n  }\n}\n",
            ),
            (
                "a.rs",
                "fn put(path: &Path, text: &str) {\n    if !path.exists() {\n        fs::write(path, text);\n    }\n}\n",
            ),
        ],
        &[
            (
                "a.py",
                "def rename(id, name):\n    item = Stock.objects.get(id=id)\n    item.name = name\n    item.save()\n",
            ),
            (
                "a.py",
                "def sell(id):\n    Stock.objects.filter(id=id).update(count=F('count') - 1)\n",
            ),
            (
                "a.py",
                "def show(id):\n    item = Stock.objects.get(id=id)\n    if item.count < 1:\n        return None\n    return item\n",
            ),
            ("a.rb", "def show(id)\n  stock = Stock.find(id)\n  Visit.create!(at: now)\nend\n"),
            (
                "a.ts",
                "function pick(items: Item[]) {\n  const one = items.find((item) => item.id === 1);\n  if (one) { result.push(one); }\n}\n",
            ),
            (
                "a.go",
                "package a\nfunc f(db *sql.DB) {\n\tdb.QueryRow(\"SELECT a FROM b\")\n\tif x {\n\t\tdb.Exec(\"UPDATE c SET d = 1\")\n\t}\n}\n",
            ),
            (
                "a.js",
                "function put(path, text) {\n  if (!fs.existsSync(path)) {\n    fs.writeFileSync(other, text);\n  }\n}\n",
            ),
        ],
    );
}

#[test]
fn arithmetic_on_amounts_is_money() {
    check(
        Behaviour::Money,
        &[
            ("a.py", "def total(price, count):\n    return price * count\n"),
            ("a.ts", "function fee(amount: number) {\n  return amount * 0.03;\n}\n"),
            ("a.rb", "def pay(order)\n  @balance -= order.total\nend\n"),
            (
                "A.java",
                "class A {\n  long net(long amount, long tax) {\n    return amount - tax;\n  }\n}\n",
            ),
            (
                "a.go",
                "package a\nfunc net(price, discount int) int {\n\treturn price - discount\n}\n",
            ),
            ("a.php", "<?php\nfunction net($price) {\n  return $price * 1.19;\n}\n"),
        ],
        &[
            ("a.py", "def label(price):\n    return price.name + \" EUR\"\n"),
            ("a.py", "def area(width, height):\n    return width * height\n"),
            ("a.ts", "function show(price: number) {\n  console.log(price);\n}\n"),
            ("a.py", "# price * count\ndef f(a, b):\n    return a * b\n"),
        ],
    );
}

#[test]
fn arithmetic_on_points_in_time_is_dates() {
    check(
        Behaviour::Dates,
        &[
            ("a.py", "def due(today):\n    return today + timedelta(days=30)\n"),
            ("a.php", "<?php\nfunction due($start) {\n  return $start->addMonth();\n}\n"),
            (
                "A.java",
                "class A {\n  LocalDate due(LocalDate start) {\n    return start.plusMonths(1);\n  }\n}\n",
            ),
            (
                "a.go",
                "package a\nfunc due(start time.Time) time.Time {\n\treturn start.AddDate(0, 1, 0)\n}\n",
            ),
            ("a.ts", "function due(d: Date) {\n  d.setMonth(d.getMonth() + 1);\n}\n"),
            ("a.rb", "def due(start_date)\n  start_date + 30\nend\n"),
        ],
        &[
            ("a.py", "def show(today):\n    return today.isoformat()\n"),
            ("a.ts", "function add(items: string[], day: string) {\n  items.push(day);\n}\n"),
            ("a.go", "package a\nfunc add(a, b int) int {\n\treturn a + b\n}\n"),
        ],
    );
}

#[test]
fn a_lookup_by_an_id_of_a_request_is_identity() {
    check(
        Behaviour::Identity,
        &[
            ("a.py", "def order(request, order_id):\n    return Order.objects.get(id=order_id)\n"),
            ("a.rb", "def show\n  @order = Order.find(params[:id])\nend\n"),
            (
                "a.ts",
                "async function show(req: Request, res: Response) {\n  res.json(await Order.findOne({ id: req.params.id }));\n}\n",
            ),
            (
                "A.java",
                "class A {\n  Order show(@PathVariable Long id) {\n    return orderRepository.findById(id).get();\n  }\n}\n",
            ),
            (
                "a.php",
                "<?php\nfunction show(Request $request) {\n  return Order::find($request->input('id'));\n}\n",
            ),
            (
                "a.go",
                "package a\nfunc show(c *gin.Context) {\n\tdb.QueryRow(\"SELECT a FROM orders WHERE id = $1\", c.Param(\"id\"))\n}\n",
            ),
        ],
        &[
            ("a.py", "def nightly():\n    return Order.objects.get(id=1)\n"),
            ("a.py", "def order(request):\n    return Order.objects.filter(open=True)\n"),
            (
                "a.ts",
                "function show(req: Request, res: Response) {\n  res.json({ id: req.params.id });\n}\n",
            ),
        ],
    );
}

#[test]
fn work_that_is_tried_again_is_retry() {
    check(
        Behaviour::Retry,
        &[
            (
                "a.py",
                "def send(job):\n    for attempt in range(3):\n        try:\n            return job()\n        except Error:\n            time.sleep(1)\n",
            ),
            ("a.ts", "async function send(job: Job) {\n  await pRetry(() => job.run());\n}\n"),
            ("a.rb", "def send(job)\n  job.run\nrescue Timeout\n  retry\nend\n"),
            (
                "A.java",
                "class A {\n  @Retryable(maxAttempts = 3)\n  void send() {\n    job.run();\n  }\n}\n",
            ),
            (
                "a.go",
                "package a\nfunc send(job func() error) {\n\tfor tries := 0; tries < 3; tries++ {\n\t\tjob()\n\t}\n}\n",
            ),
        ],
        &[
            ("a.py", "def send(job):\n    # no retry here\n    return job()\n"),
            (
                "a.go",
                "package a\nfunc send(jobs []Job) {\n\tfor _, job := range jobs {\n\t\tjob.Run()\n\t}\n}\n",
            ),
            ("a.ts", "function show() {\n  return 'please retry';\n}\n"),
        ],
    );
}

#[test]
fn reading_writing_and_invalidating_a_cache_is_cache() {
    check(
        Behaviour::Cache,
        &[
            ("a.py", "def rate(key):\n    return cache.get(key)\n"),
            ("a.rb", "def rate\n  Rails.cache.fetch('rate') { load }\nend\n"),
            (
                "a.php",
                "<?php\nfunction rate() {\n  return Cache::remember('rate', 60, fn () => load());\n}\n",
            ),
            ("a.ts", "async function rate() {\n  await redis.set('rate', 1);\n}\n"),
            (
                "A.java",
                "class A {\n  @Cacheable(\"rates\")\n  Rate rate() {\n    return load();\n  }\n}\n",
            ),
            ("a.py", "@lru_cache(maxsize=None)\ndef rate():\n    return load()\n"),
        ],
        &[
            ("a.py", "def rate(values, key):\n    return values.get(key)\n"),
            ("a.ts", "function rate(map: Map<string, number>) {\n  return map.get('cache');\n}\n"),
        ],
    );
}

#[test]
fn a_database_call_is_a_query_and_one_in_a_loop_is_query_in_loop() {
    let fire: &[(&str, &str)] = &[
        (
            "a.py",
            "def totals(orders):\n    for order in orders:\n        order.lines = Line.objects.filter(order=order)\n",
        ),
        (
            "a.rb",
            "def totals(orders)\n  orders.each do |order|\n    Line.where(order: order)\n  end\nend\n",
        ),
        (
            "a.php",
            "<?php\nfunction totals($orders) {\n  foreach ($orders as $order) {\n    $lines = Line::where('order_id', $order->id)->get();\n  }\n}\n",
        ),
        (
            "a.ts",
            "async function totals(orders: Order[]) {\n  return orders.map((order) => prisma.line.findMany({ where: { order } }));\n}\n",
        ),
        (
            "a.go",
            "package a\nfunc totals(db *sql.DB, ids []int) {\n\tfor _, id := range ids {\n\t\tdb.QueryRow(\"SELECT a FROM lines WHERE id = $1\", id)\n\t}\n}\n",
        ),
        (
            "A.java",
            "class A {\n  void totals(List<Long> ids) {\n    for (Long id : ids) {\n      lineRepository.findById(id);\n    }\n  }\n}\n",
        ),
    ];
    let once: &[(&str, &str)] = &[
        (
            "a.py",
            "def totals():\n    for line in Line.objects.filter(open=True):\n        show(line)\n",
        ),
        (
            "a.rb",
            "def totals\n  Line.where(open: true).each do |line|\n    show(line)\n  end\nend\n",
        ),
        (
            "a.ts",
            "async function totals() {\n  const lines = await prisma.line.findMany();\n  return lines.map((line) => line.total);\n}\n",
        ),
        (
            "a.go",
            "package a\nfunc totals(db *sql.DB) {\n\trows, _ := db.Query(\"SELECT a FROM lines\")\n\tfor rows.Next() {\n\t\tshow(rows)\n\t}\n}\n",
        ),
    ];
    check(Behaviour::QueryInLoop, fire, once);
    let none: &[(&str, &str)] = &[
        (
            "a.ts",
            "function pick(items: Item[]) {\n  for (const wanted of all) {\n    items.find((item) => item === wanted);\n  }\n}\n",
        ),
        ("a.py", "def pick(values):\n    for key in values:\n        values.get(key)\n"),
        ("a.rb", "def read(names)\n  names.each { |name| File.open(name) }\nend\n"),
    ];
    check(Behaviour::Query, &[fire, once].concat(), none);
    check(Behaviour::QueryInLoop, fire, none);
}

#[test]
fn a_call_to_another_system_before_the_commit_is_call_in_transaction() {
    check(
        Behaviour::CallInTransaction,
        &[
            (
                "a.py",
                "def pay(order):\n    with transaction.atomic():\n        order.save()\n        requests.post(URL, json={})\n",
            ),
            (
                "a.py",
                "@transaction.atomic\ndef pay(order):\n    order.save()\n    stripe.Charge.create(amount=1)\n",
            ),
            (
                "a.rb",
                "def pay(order)\n  Order.transaction do\n    order.save!\n    OrderMailer.paid(order).deliver_now\n  end\nend\n",
            ),
            (
                "a.php",
                "<?php\nfunction pay($order) {\n  DB::transaction(function () use ($order) {\n    $order->save();\n    $this->gateway->charge($order);\n  });\n}\n",
            ),
            (
                "A.java",
                "class A {\n  @Transactional\n  public void pay(Order order) {\n    repository.save(order);\n    restTemplate.postForObject(url, order, String.class);\n  }\n}\n",
            ),
            (
                "a.ts",
                "async function pay(order: Order) {\n  await prisma.$transaction(async (tx) => {\n    await tx.order.update({});\n    await axios.post(url);\n  });\n}\n",
            ),
            (
                "a.go",
                "package a\nfunc pay(db *sql.DB) {\n\ttx, _ := db.Begin()\n\ttx.Exec(\"UPDATE a SET b = 1\")\n\thttp.Post(url, \"\", nil)\n\ttx.Commit()\n}\n",
            ),
        ],
        &[
            (
                "a.py",
                "def pay(order):\n    with transaction.atomic():\n        order.save()\n    requests.post(URL, json={})\n",
            ),
            (
                "a.rb",
                "def pay(order)\n  Order.transaction do\n    order.save!\n  end\n  OrderMailer.paid(order).deliver_now\nend\n",
            ),
            (
                "a.go",
                "package a\nfunc pay(db *sql.DB) {\n\ttx, _ := db.Begin()\n\ttx.Exec(\"UPDATE a SET b = 1\")\n\ttx.Commit()\n\thttp.Post(url, \"\", nil)\n}\n",
            ),
            (
                "A.java",
                "class A {\n  @Transactional\n  public void pay(Order order) {\n    repository.save(order);\n  }\n}\n",
            ),
        ],
    );
}

#[test]
fn rounding_truncation_and_integer_division_are_rounding() {
    check(
        Behaviour::Rounding,
        &[
            ("a.py", "def net(a):\n    return round(a, 2)\n"),
            ("a.py", "def half(a):\n    return a // 2\n"),
            ("a.ts", "function net(a: number) {\n  return a.toFixed(2);\n}\n"),
            (
                "A.java",
                "class A {\n  BigDecimal net(BigDecimal a) {\n    return a.setScale(2);\n  }\n}\n",
            ),
            ("a.rb", "def net(a)\n  a.round(2)\nend\n"),
            ("a.go", "package a\nfunc net(a float64) float64 {\n\treturn math.Floor(a)\n}\n"),
        ],
        &[
            ("a.py", "def net(a):\n    return a / 2\n"),
            ("a.ts", "// rounds\nfunction rounds(a: Round) {\n  return a.rounds;\n}\n"),
        ],
    );
}

#[test]
fn a_column_that_refers_to_a_table_without_an_index_is_missing_index() {
    check(
        Behaviour::MissingIndex,
        &[
            (
                "db/1.sql",
                "CREATE TABLE orders (\n  id bigint PRIMARY KEY,\n  user_id bigint NOT NULL REFERENCES users (id)\n);\n",
            ),
            ("db/2.sql", "ALTER TABLE orders ADD COLUMN shop_id bigint;\n"),
            (
                "db/1.rb",
                "class A < ActiveRecord::Migration[7.0]\n  def change\n    add_column :orders, :shop_id, :bigint\n  end\nend\n",
            ),
            (
                "db/1.php",
                "<?php\nSchema::table('orders', function ($table) {\n  $table->unsignedBigInteger('shop_id');\n});\n",
            ),
            (
                "versions/1.py",
                "def upgrade():\n    op.add_column('orders', sa.Column('shop_id', sa.Integer()))\n",
            ),
            (
                "db/1.ts",
                "export const up = (knex: Knex) => knex.schema.alterTable('orders', (t) => {\n  t.integer('shop_id');\n});\n",
            ),
        ],
        &[
            (
                "db/1.sql",
                "CREATE TABLE orders (\n  id bigint PRIMARY KEY,\n  user_id bigint REFERENCES users (id)\n);\nCREATE INDEX ON orders (user_id);\n",
            ),
            (
                "db/1.rb",
                "class A < ActiveRecord::Migration[7.0]\n  def change\n    add_reference :orders, :shop_id\n  end\nend\n",
            ),
            (
                "db/1.php",
                "<?php\nSchema::table('orders', function ($table) {\n  $table->unsignedBigInteger('shop_id')->index();\n});\n",
            ),
            (
                "versions/1.py",
                "def upgrade():\n    op.add_column('orders', sa.Column('shop_id', sa.Integer(), index=True))\n",
            ),
            ("a.py", "def show(user_id):\n    return names['user_id']\n"),
            ("db/3.sql", "ALTER TABLE orders ADD COLUMN title text;\n"),
        ],
    );
}

#[test]
fn only_functions_around_added_lines_count() {
    let text = "def old(id):\n    return Order.objects.get(id=id)\n\n\ndef new():\n    return 1\n";
    let of = |line: u32| behaviours_in("a.py", text, LineRange::at(line).into_iter());
    assert!(of(1).contains(&Behaviour::Query));
    assert!(of(6).is_empty());
}

#[test]
fn tests_and_text_files_have_no_behaviours() {
    let text = "def test_a():\n    for a in b:\n        Order.objects.get(id=a)\n";
    assert!(found("tests/test_a.py", text).is_empty());
    assert!(found("notes.txt", text).is_empty());
}

#[test]
fn every_behaviour_is_found_by_its_word() {
    for behaviour in Behaviour::ALL {
        assert_eq!(Behaviour::from_word(behaviour.as_str()), Some(behaviour));
    }
    assert_eq!(Behaviour::from_word("dance"), None);
}
