use super::*;

/// Formats the tests of a file: `test_sub can fail`, `test_sub inert: is skipped …`.
fn check(path: &str, text: &str) -> String {
    let tests = test_functions(path, text).unwrap();
    let words = tests.into_iter().map(|test| match test.effect {
        TestEffect::CanFail => format!("{} can fail", test.name),
        TestEffect::Unclear(why) => format!("{} unclear: {why}", test.name),
        TestEffect::Inert(why) => format!("{} inert: {why}", test.name),
    });
    words.collect::<Vec<_>>().join(", ")
}

const JS: &str = "const { sub } = require('./calc');\n";
const GO: &str = "package calc\n\nimport \"testing\"\n\n";

#[test]
fn a_test_that_never_fails_or_never_runs_is_inert() {
    let python = [
        "def test_sub():\n    assert True\n",
        "def test_sub():\n    assert 1 == 1\n",
        "def test_sub():\n    x = 1\n    assert x == x\n",
        "def test_sub():\n    x = 1\n    assert x == 1\n",
        "def test_sub():\n    x = sub(3, 2)\n    assert x == x\n",
        "def test_sub():\n    assert sub(3, 2) == sub(3, 2)\n",
        "def test_sub():\n    assert (sub(3, 2) == 5, 'wrong')\n",
        "def test_sub():\n    assert sub(3, 2) == 5 or True\n",
        "def test_sub():\n    assert not False\n",
        "def test_sub():\n    return\n    assert sub(3, 2) == 1\n",
        "def test_sub():\n    if True:\n        return\n    assert sub(3, 2) == 1\n",
        "def test_sub():\n    if False:\n        assert sub(3, 2) == 1\n",
        "def test_sub():\n    for x in []:\n        assert sub(3, 2) == x\n",
        "def test_sub():\n    pytest.skip('later')\n    assert sub(3, 2) == 1\n",
        "def test_sub():\n    try:\n        assert sub(3, 2) == 1\n    except Exception:\n        pass\n",
        "def test_sub():\n    try:\n        assert sub(3, 2) == 1\n    except:\n        print('x')\n",
        "def test_sub():\n    with suppress(AssertionError):\n        assert sub(3, 2) == 1\n",
        "def test_sub():\n    def inner():\n        assert sub(3, 2) == 1\n",
        "def test_sub():\n    pass\n",
        "def test_sub():\n    yield\n    assert sub(3, 2) == 1\n",
        "@pytest.mark.skip\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "@pytest.mark.skip(reason='x')\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "@unittest.skip('x')\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "@pytest.mark.skipif(True, reason='x')\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "@pytest.mark.xfail\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "@pytest.mark.parametrize('x', [])\ndef test_sub(x):\n    assert sub(3, 2) == x\n",
        "@pytest.fixture\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "__test__ = False\n\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "def test_sub():\n    assert sub(3, 2) == 1\n\ntest_sub.__test__ = False\n",
        "pytestmark = pytest.mark.skip\n\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "pytest.skip('x', allow_module_level=True)\n\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "class Helper:\n    def test_sub(self):\n        assert sub(3, 2) == 1\n",
        "class TestSub:\n    def __init__(self):\n        pass\n    def test_sub(self):\n        assert sub(3, 2) == 1\n",
        "class TestSub:\n    __test__ = False\n    def test_sub(self):\n        assert sub(3, 2) == 1\n",
        "@pytest.mark.skip\nclass TestSub:\n    def test_sub(self):\n        assert sub(3, 2) == 1\n",
        "class TestSub(unittest.TestCase):\n    def test_sub(self):\n        self.assertEqual(1, 1)\n",
        "class TestSub(unittest.TestCase):\n    def test_sub(self):\n        self.assertTrue(True)\n",
        "class TestSub(unittest.TestCase):\n    def test_sub(self):\n        self.skipTest('x')\n        self.assertEqual(sub(3, 2), 1)\n",
        "def outer():\n    def test_sub():\n        assert sub(3, 2) == 1\n",
        "if False:\n    def test_sub():\n        assert sub(3, 2) == 1\n",
    ];
    let script = [
        "it.skip('test_sub', () => { expect(sub(3, 2)).toBe(1); });\n",
        "xit('test_sub', () => { expect(sub(3, 2)).toBe(1); });\n",
        "xtest('test_sub', () => { expect(sub(3, 2)).toBe(1); });\n",
        "test.todo('test_sub');\n",
        "test('test_sub');\n",
        "test.failing('test_sub', () => { expect(sub(3, 2)).toBe(1); });\n",
        "test('test_sub', { skip: true }, () => { assert.strictEqual(sub(3, 2), 1); });\n",
        "test('test_sub', { todo: 'x' }, () => { assert.strictEqual(sub(3, 2), 1); });\n",
        "test('test_sub', (t) => { t.skip(); assert.strictEqual(sub(3, 2), 1); });\n",
        "it('test_sub', () => { expect(true).toBe(true); });\n",
        "it('test_sub', () => { const x = 1; expect(x).toBe(x); });\n",
        "it('test_sub', () => { const x = sub(3, 2); expect(x).toBe(x); });\n",
        "it('test_sub', () => { assert.strictEqual(1, 1); });\n",
        "it('test_sub', () => { return; expect(sub(3, 2)).toBe(1); });\n",
        "it('test_sub', () => { try { expect(sub(3, 2)).toBe(1); } catch (e) {} });\n",
        "it('test_sub', () => {});\n",
        "if (false) { it('test_sub', () => { expect(sub(3, 2)).toBe(1); }); }\n",
    ];
    let rust = [
        "#[test]\n#[ignore]\nfn test_sub() { assert_eq!(sub(3, 2), 1); }\n",
        "#[test]\n#[ignore = \"later\"]\nfn test_sub() { assert_eq!(sub(3, 2), 1); }\n",
        "#[test]\n#[cfg(any())]\nfn test_sub() { assert_eq!(sub(3, 2), 1); }\n",
        "#[cfg(all(test, any()))]\nmod tests {\n    #[test]\n    fn test_sub() { assert_eq!(sub(3, 2), 1); }\n}\n",
        "#![cfg(any())]\n#[test]\nfn test_sub() { assert_eq!(sub(3, 2), 1); }\n",
        "#[cfg(target_os = \"never\")]\n#[test]\nfn test_sub() { assert_eq!(sub(3, 2), 1); }\n",
        "#[test]\n#[cfg_attr(all(), ignore)]\nfn test_sub() { assert_eq!(sub(3, 2), 1); }\n",
        "fn test_sub() { assert_eq!(sub(3, 2), 1); }\n",
        "#[test]\nfn test_sub() { assert!(true); }\n",
        "#[test]\nfn test_sub() { let x = sub(3, 2); assert_eq!(x, x); }\n",
        "#[test]\nfn test_sub() { let x = 1; assert_eq!(x, 1); }\n",
        "#[test]\nfn test_sub() { return; assert_eq!(sub(3, 2), 1); }\n",
        "#[test]\nfn test_sub() { if false { assert_eq!(sub(3, 2), 1); } }\n",
        "#[test]\nfn test_sub() {}\n",
    ];
    let go = [
        "func TestSub(t *testing.T) {\n\tt.Skip()\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal(1)\n\t}\n}\n",
        "func TestSub(t *testing.T) {\n\tt.Skip(\"later\")\n\tt.Fatal(1)\n}\n",
        "func TestSub(t *testing.T) {\n\treturn\n\tt.Fatal(1)\n}\n",
        "func TestSub(t *testing.T) {\n\tif false {\n\t\tt.Fatal(1)\n\t}\n}\n",
        "func TestSub(t *testing.T) {\n\tx := 1\n\tif x != x {\n\t\tt.Fatal(1)\n\t}\n}\n",
        "func Testsub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal(1)\n\t}\n}\n",
        "func TestSub(t int) {\n\tif Sub(3, 2) != 1 {\n\t\tpanic(1)\n\t}\n}\n",
        "func TestSub(t *testing.T) {\n}\n",
    ];
    let java = [
        "class A {\n  @Disabled\n  @Test void testSub() { assertEquals(1, sub(3, 2)); }\n}\n",
        "@Disabled class A {\n  @Test void testSub() { assertEquals(1, sub(3, 2)); }\n}\n",
        "class A {\n  void testSub() { assertEquals(1, sub(3, 2)); }\n}\n",
        "class A {\n  @Test void testSub() { assertTrue(true); }\n}\n",
        "class A {\n  @Test void testSub() { try { assertEquals(1, sub(3, 2)); } catch (Throwable e) { } }\n}\n",
    ];
    let all = python
        .iter()
        .map(|text| ("test_calc.py", (*text).to_owned()))
        .chain(script.iter().map(|text| ("test/calc.test.js", format!("{JS}{text}"))))
        .chain(rust.iter().map(|text| ("tests/calc.rs", (*text).to_owned())))
        .chain(go.iter().map(|text| ("calc_test.go", format!("{GO}{text}"))))
        .chain([(
            "calc_test.go",
            format!("//go:build ignore\n\n{GO}func TestSub(t *testing.T) {{\n\tt.Fatal(1)\n}}\n"),
        )])
        .chain(java.iter().map(|text| ("src/test/java/ATest.java", (*text).to_owned())))
        .chain([(
            "test_calc.rb",
            "def test_sub\n  skip\n  assert_equal 1, sub(3, 2)\nend\n".to_owned(),
        )]);
    let wrong: Vec<String> = all
        .filter_map(|(path, text)| {
            let shown = check(path, &text);
            (!shown.contains(" inert: ")).then(|| format!("{path}: {text}  {shown}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_test_of_a_common_form_can_fail() {
    let python = [
        "def test_sub():\n    assert sub(3, 2) == 1\n",
        "def test_sub():\n    x = sub(3, 2)\n    assert x == 1\n",
        "def test_sub():\n    x = []\n    fill(x)\n    assert x == [1]\n",
        "async def test_sub(client):\n    assert (await client.sub(3, 2)) == 1\n",
        "def test_sub(tmp_path):\n    with pytest.raises(ValueError):\n        sub('a', 2)\n",
        "def test_sub():\n    try:\n        sub('a', 2)\n    except TypeError:\n        return\n    assert False\n",
        "def test_sub():\n    try:\n        assert sub(3, 2) == 1\n    finally:\n        close()\n",
        "def test_sub():\n    if sys.platform == 'win32':\n        return\n    assert sub(3, 2) == 1\n",
        "def test_sub():\n    for a, b, c in [(3, 2, 1)]:\n        assert sub(a, b) == c\n",
        "def test_sub():\n    def inner():\n        assert sub(3, 2) == 1\n    inner()\n",
        "def test_sub():\n    assert LIMIT == 3\n",
        "def test_sub():\n    check('a', 'b')\n",
        "@pytest.mark.parametrize('a, b', [(1, 2)])\ndef test_sub(a, b):\n    assert sub(a, b) == -1\n",
        "@pytest.mark.skipif(sys.platform == 'win32', reason='x')\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "@pytest.mark.slow\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        "class TestSub:\n    def test_sub(self):\n        assert sub(3, 2) == 1\n",
        "class SubTests(unittest.TestCase):\n    def setUp(self):\n        self.x = 1\n    def test_sub(self):\n        self.assertEqual(sub(3, 2), self.x)\n",
        "class Sub(APITestCase):\n    def test_sub(self):\n        self.assertTrue(sub(3, 2))\n",
    ];
    let script = [
        "it('test_sub', () => { expect(sub(3, 2)).toBe(1); });\n",
        "test('test_sub', () => expect(sub(3, 2)).toBe(1));\n",
        "describe('calc', () => { it('test_sub', async () => { await expect(sub(3, 2)).resolves.toBe(1); }); });\n",
        "test('test_sub', { timeout: 100 }, () => { assert.strictEqual(sub(3, 2), 1); });\n",
        "test('test_sub', () => { assert.throws(() => sub('a')); });\n",
        "it('test_sub', function () { const x = sub(3, 2); x.should.equal(1); });\n",
        "it('test_sub', () => { try { sub('a'); throw new Error('no'); } catch (e) { expect(e.message).toBe('x'); } });\n",
        "test.each([[3, 2, 1]])('test_sub', (a, b, c) => { expect(sub(a, b)).toBe(c); });\n",
    ];
    let rust = [
        "#[test]\nfn test_sub() { assert_eq!(sub(3, 2), 1); }\n",
        "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn sub_subtracts() { let x = sub(3, 2); assert!(x == 1, \"{x}\"); }\n}\n",
        "#[test]\n#[should_panic]\nfn test_sub() { sub(0, 1); }\n",
        "#[tokio::test]\nasync fn test_sub() { sub(3, 2).await.unwrap(); }\n",
        "#[test]\nfn test_sub() -> Result<(), E> { sub(3, 2)?; Ok(()) }\n",
        "#[test]\n#[cfg(unix)]\nfn test_sub() { assert_eq!(sub(3, 2), 1); }\n",
        "#[test]\nfn test_sub() { check(\"a\", \"b\"); }\n",
        "#[test]\n#[cfg_attr(miri, ignore)]\nfn test_sub() { assert_eq!(sub(3, 2), 1); }\n",
    ];
    let go = [
        "func TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal(1)\n\t}\n}\n",
        "func TestSub(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip()\n\t}\n\tif got := Sub(3, 2); got != 1 {\n\t\tt.Errorf(\"%d\", got)\n\t}\n}\n",
        "func TestSub(t *testing.T) {\n\tassert.Equal(t, 1, Sub(3, 2))\n}\n",
        "func TestSub(t *testing.T) {\n\tt.Run(\"a\", func(t *testing.T) {\n\t\trequire.NoError(t, Sub(3, 2))\n\t})\n}\n",
    ];
    let all = python
        .iter()
        .map(|text| ("test_calc.py", (*text).to_owned()))
        .chain(script.iter().map(|text| ("test/calc.test.js", format!("{JS}{text}"))))
        .chain(rust.iter().map(|text| ("tests/calc.rs", (*text).to_owned())))
        .chain(go.iter().map(|text| ("calc_test.go", format!("{GO}{text}"))))
        .chain([
            (
                "src/test/java/ATest.java",
                "class A {\n  @Test void sub() { assertEquals(1, sub(3, 2)); }\n}\n".to_owned(),
            ),
            ("test_calc.rb", "def test_sub\n  assert_equal 1, sub(3, 2)\nend\n".to_owned()),
        ]);
    let wrong: Vec<String> = all
        .filter_map(|(path, text)| {
            let shown = check(path, &text);
            let is_right =
                !shown.is_empty() && !shown.contains("inert") && !shown.contains("unclear");
            (!is_right).then(|| format!("{path}: {text}  {shown}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
